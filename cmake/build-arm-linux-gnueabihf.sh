#!/bin/sh
# The library with all operators for arm-linux-gnueabihf; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" arm-linux-gnueabihf
