# Stands in for the toolchain file of an Android NDK: the same variables in, the same kind of compiler out. It is part of
# a folder of the NDK's shape that `lathe build --ndk-check` makes, whose sysroot holds the headers beside this file.
#
# The flags are those that NDKs give. What is missing is -fstack-protector-strong on 64-bit ARM: the word it compares
# stands where the C library that executes the check keeps variables.
set(CMAKE_SYSTEM_NAME Android)
set(CMAKE_SYSTEM_VERSION 1) # CMake's own support for the NDK stays out of this
set(ANDROID TRUE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_ABI ANDROID_PLATFORM ANDROID_STL)
set(flags "-DANDROID -fdata-sections -ffunction-sections -funwind-tables -g")
string(APPEND flags " -Wformat -Werror=format-security")
string(REGEX REPLACE "^android-" "" level "${ANDROID_PLATFORM}")
if(ANDROID_ABI STREQUAL "arm64-v8a")
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(triple aarch64-none-linux-android${level})
elseif(ANDROID_ABI STREQUAL "armeabi-v7a")
  set(CMAKE_SYSTEM_PROCESSOR armv7-a)
  set(triple armv7-none-linux-androideabi${level})
  string(APPEND flags " -march=armv7-a -mthumb -fstack-protector-strong")
elseif(ANDROID_ABI STREQUAL "x86_64")
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
  set(triple x86_64-none-linux-android${level})
  string(APPEND flags " -fstack-protector-strong")
else()
  message(FATAL_ERROR "ANDROID_ABI is '${ANDROID_ABI}', which is none of arm64-v8a, armeabi-v7a and x86_64")
endif()
set(ANDROID_TOOLCHAIN_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../toolchains/llvm/prebuilt/linux-x86_64)
cmake_path(NORMAL_PATH ANDROID_TOOLCHAIN_ROOT)
set(CMAKE_SYSROOT ${ANDROID_TOOLCHAIN_ROOT}/sysroot)
set(CMAKE_CXX_COMPILER ${ANDROID_TOOLCHAIN_ROOT}/bin/clang++)
set(CMAKE_CXX_COMPILER_TARGET ${triple})
set(CMAKE_CXX_FLAGS "${flags}")
set(CMAKE_SHARED_LINKER_FLAGS "-Wl,--no-undefined -Qunused-arguments")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # there is nothing that programs could start with
