/* Stands in for <sys/syscall.h> of the Android NDK: numbers of system calls. */
#ifndef LATHE_ANDROID_CHECK_SYS_SYSCALL_H_
#define LATHE_ANDROID_CHECK_SYS_SYSCALL_H_

#if defined(__aarch64__)
#define SYS_futex 98
#elif defined(__arm__)
#define SYS_futex 240
#elif defined(__x86_64__)
#define SYS_futex 202
#endif

#endif /* LATHE_ANDROID_CHECK_SYS_SYSCALL_H_ */
