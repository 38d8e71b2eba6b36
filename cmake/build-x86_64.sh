#!/bin/sh
# The library with all operators for 64-bit x86 Android; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" x86_64
