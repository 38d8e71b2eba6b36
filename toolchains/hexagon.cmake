# Programs for Qualcomm's DSP: LLVM alone, without SDK and C library, whose headers native/hexagon/program/include has.
# LATHE_HEXAGON_VERSION is the version of the DSP. Loops stay as they are written: the compiler's own copies of them do
# not gain on packets, and grow the programs. What saves registers is written in place: no library has the functions.
set(CMAKE_SYSTEM_NAME Linux) # which decides how files are called, and nothing else
set(CMAKE_SYSTEM_PROCESSOR hexagon)
set(CMAKE_CXX_COMPILER clang++-19 CACHE STRING "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LATHE_HEXAGON_VERSION)
string(
  CONCAT CMAKE_CXX_FLAGS_INIT
  "--target=hexagon-unknown-elf -m${LATHE_HEXAGON_VERSION} -mhvx -mhvx-length=128b "
  "-fno-unroll-loops -mllvm -spill-func-threshold=100 -mllvm -spill-func-threshold-Os=100 -nostdlibinc "
  "-isystem ${CMAKE_CURRENT_LIST_DIR}/../native/hexagon/program/include"
)
