#!/bin/sh
# The library with all operators for riscv64-linux-gnu; build.sh tells what the environment may say.
exec "$(dirname "$0")/build.sh" riscv64-linux-gnu
