# 32-bit ARM Android (ARMv7-A). What needs more than NEON is chosen when a library runs.
set(ANDROID_ABI armeabi-v7a)
include(${CMAKE_CURRENT_LIST_DIR}/android.cmake)
