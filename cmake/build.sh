#!/bin/sh
# Builds the library with all operators for one ABI: build.sh <abi>. The scripts build-<abi>.sh call it, and so may you.
#
# RUNTIME, QUANTIZE, RUNMODE and BUILD_DIR are those of MACE's scripts; docs/how-to/cmake.md says what they may be.
set -eu

fail() {
  echo "error: $1" >&2
  echo "  fix:  $2" >&2
  exit 2
}

abi=${1:?usage: build.sh ABI}
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${BUILD_DIR:-build/cmake-build/$abi}

case ${RUNTIME:-CPU} in
  CPU | cpu) opencl= ;;
  GPU | gpu | CPU+GPU | cpu+gpu) opencl=$folder/opencl ;;
  *) fail "RUNTIME=$RUNTIME is not built yet" "leave out RUNTIME, or set it to CPU or GPU" ;;
esac
case ${QUANTIZE:-OFF} in
  OFF | off | 0 | ON | on | 1) ;; # kernels for few bits are among all of them
  *) fail "QUANTIZE=$QUANTIZE is neither ON nor OFF" "leave out QUANTIZE" ;;
esac
case ${RUNMODE:-file} in
  file) ;;
  code) fail "RUNMODE=code: this library loads models, it holds none" \
    "lathe build DEPLOYMENT --model-graph-format code --model-data-format code" ;;
  *) fail "RUNMODE=$RUNMODE is neither file nor code" "leave out RUNMODE" ;;
esac
case $abi in
  arm64-v8a | armeabi-v7a | x86_64)
    [ -f "${ANDROID_NDK_HOME:-}/build/cmake/android.toolchain.cmake" ] ||
      fail "$abi is built by the Android NDK, and ANDROID_NDK_HOME is not the folder of one" \
        "install the NDK (r21 or later) and set ANDROID_NDK_HOME to its folder"
    ;;
esac
for program in cmake ninja; do
  command -v $program >/dev/null || fail "$program is missing" "install it: pip install $program, or apt-get install it"
done

python=${PYTHON:-}
if [ -z "$python" ]; then
  python=python3
  [ ! -x "$root/.venv/bin/python" ] || python=$root/.venv/bin/python
fi
PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} "$python" -c "import buildtool.codegen.kernel_units" 2>/dev/null ||
  fail "$python does not find Lathe, which writes the sources of the kernels" \
    "set PYTHON to the Python that Lathe is installed in: .venv/bin/python"
if [ -n "$opencl" ]; then
  mkdir -p "$opencl"
  opencl=$(cd "$opencl" && pwd)
  PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} "$python" -m buildtool.codegen.all_units "$opencl" ||
    fail "the GPU kernels cannot be packed" "set PYTHON to the Python that Lathe is installed in: .venv/bin/python"
fi
cmake -S "$root/native" --preset "$abi" -B "$folder" -DCMAKE_INSTALL_PREFIX="$folder/install" \
  -DLATHE_OPENCL="$opencl" -DLATHE_PYTHON="$(command -v "$python")" --log-level=WARNING
cmake --build "$folder" --target full vision ${JOBS:+--parallel "$JOBS"}
cmake --install "$folder" --strip
echo "$folder/install/lib/liblathe_full.so"
echo "$folder/install/lib/liblathe_vision.so"
