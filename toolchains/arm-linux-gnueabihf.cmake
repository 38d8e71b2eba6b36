# 32-bit ARM Linux with hardware floating point (ARMv7-A, NEON), built by the GNU cross compiler (Debian: g++-arm-linux-gnueabihf).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
set(CMAKE_ASM_COMPILER arm-linux-gnueabihf-gcc)
# VFPv4 is the least that every ARMv7-A with hardware division and half-precision conversion has.
set(CMAKE_CXX_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4")
set(CMAKE_ASM_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4")
