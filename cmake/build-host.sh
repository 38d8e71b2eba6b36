#!/bin/sh
# The library with all operators for this machine; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" host
