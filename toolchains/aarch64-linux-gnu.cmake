# 64-bit ARM Linux (ARMv8-A), built by the GNU cross compiler (Debian: g++-aarch64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_FLAGS_INIT "-march=armv8-a -mno-outline-atomics")
set(CMAKE_ASM_FLAGS_INIT "-march=armv8-a")
# Pages may be 64 KiB here, and the linker would fill a file up to the next one to protect a few hundred bytes of tables.
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,-z,norelro")
