#!/bin/sh
# The library with all operators for armeabi-v7a; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" armeabi-v7a
