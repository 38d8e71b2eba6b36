# Android: the NDK's own toolchain file, told what to build. The file of each ABI sets ANDROID_ABI and includes this one.
#
# ANDROID_NDK_HOME names the NDK, r21 or later: a variable of CMake, else of the environment. ANDROID_PLATFORM is the
# oldest Android that the library runs on.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_NDK_HOME ANDROID_PLATFORM)
if(NOT ANDROID_NDK_HOME)
  set(ANDROID_NDK_HOME "$ENV{ANDROID_NDK_HOME}")
endif()
set(lathe_ndk_remedy "install one (r21 or later) and set the variable to its folder")
if(NOT EXISTS "${ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake")
  message(FATAL_ERROR "ANDROID_NDK_HOME is not the folder of an Android NDK: ${lathe_ndk_remedy}")
endif()
set(lathe_ndk_revision "")
if(EXISTS "${ANDROID_NDK_HOME}/source.properties")
  file(STRINGS "${ANDROID_NDK_HOME}/source.properties" lathe_ndk_revision REGEX "^Pkg\\.Revision *=")
  string(REGEX REPLACE "^[^=]*= *([0-9]+).*" "\\1" lathe_ndk_revision "${lathe_ndk_revision}")
endif()
if(NOT lathe_ndk_revision GREATER_EQUAL 21)
  message(FATAL_ERROR "ANDROID_NDK_HOME names an NDK older than r21: ${lathe_ndk_remedy}")
endif()

if(NOT ANDROID_PLATFORM)
  set(ANDROID_PLATFORM android-21)
endif()
set(ANDROID_STL none) # native code uses no C++ library
include(${ANDROID_NDK_HOME}/build/cmake/android.toolchain.cmake)

# Libraries are linked by LLVM's linker, and its objcopy knows what that leaves. Later NDKs have no others.
if(EXISTS "${ANDROID_TOOLCHAIN_ROOT}/bin/llvm-objcopy")
  set(CMAKE_OBJCOPY ${ANDROID_TOOLCHAIN_ROOT}/bin/llvm-objcopy)
  set(CMAKE_AR ${ANDROID_TOOLCHAIN_ROOT}/bin/llvm-ar)
endif()
