#!/bin/sh
# The library with all operators for arm64-v8a; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" arm64-v8a
