# 32-bit ARM Android: the NDK's own toolchain file, told what to build.
if(NOT EXISTS "$ENV{ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake")
  message(
    FATAL_ERROR
    "ANDROID_NDK_HOME is not the folder of an Android NDK: install one (r21 or later) and set the variable to its folder"
  )
endif()
set(ANDROID_ABI armeabi-v7a)
if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-21)
endif()
set(ANDROID_STL none) # native code uses no C++ library
include($ENV{ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake)
# Machines with memory pages of 16 KiB load libraries whose segments are aligned to them.
string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,max-page-size=16384")
