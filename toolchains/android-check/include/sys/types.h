/* Stands in for <sys/types.h> of the Android NDK: types of the system. */
#ifndef LATHE_ANDROID_CHECK_SYS_TYPES_H_
#define LATHE_ANDROID_CHECK_SYS_TYPES_H_

#include <features.h>
#include <stddef.h>
#include <stdint.h>

/* As long as a register, so that files beyond 2 GB are out of reach of 32-bit Android. */
typedef long off_t;
typedef long time_t;
typedef int pid_t;
typedef long ssize_t;

#endif /* LATHE_ANDROID_CHECK_SYS_TYPES_H_ */
