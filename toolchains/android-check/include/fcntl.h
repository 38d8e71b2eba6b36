/* Stands in for <fcntl.h> of the Android NDK: opening files. */
#ifndef LATHE_ANDROID_CHECK_FCNTL_H_
#define LATHE_ANDROID_CHECK_FCNTL_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the two share on all processors of Android; Linux has other values of other flags on ARM. */
#define O_RDONLY 00000000
#define O_NONBLOCK 00004000
#define O_CLOEXEC 02000000

int open(const char* path, int flags, ...);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_FCNTL_H_ */
