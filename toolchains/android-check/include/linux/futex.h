/* Stands in for <linux/futex.h> of the Android NDK: waiting for words. */
#ifndef LATHE_ANDROID_CHECK_LINUX_FUTEX_H_
#define LATHE_ANDROID_CHECK_LINUX_FUTEX_H_

#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

#endif /* LATHE_ANDROID_CHECK_LINUX_FUTEX_H_ */
