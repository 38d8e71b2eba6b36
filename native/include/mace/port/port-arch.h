// Which system this is compiled for.
#ifndef MACE_PORT_PORT_ARCH_H_
#define MACE_PORT_PORT_ARCH_H_

#if defined(__APPLE__)
#define MACE_OS_MAC 1
#if defined(TARGET_OS_IPHONE) && TARGET_OS_IPHONE
#define MACE_OS_IOS 1
#endif
#elif defined(__linux__)
#define MACE_OS_LINUX 1
#if defined(__ANDROID__) || defined(ANDROID)
#define MACE_OS_LINUX_ANDROID 1
#endif
#endif

#endif  // MACE_PORT_PORT_ARCH_H_
