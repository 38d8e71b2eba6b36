/* Stands in for <errno.h> of the Android NDK: errors of system calls. */
#ifndef LATHE_ANDROID_CHECK_ERRNO_H_
#define LATHE_ANDROID_CHECK_ERRNO_H_

#ifdef __cplusplus
extern "C" {
#endif

int* __errno(void);
#define errno (*__errno())

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_ERRNO_H_ */
