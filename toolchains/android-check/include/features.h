/* Stands in for <features.h> of the Android NDK: what every header of the C library includes. */
#ifndef LATHE_ANDROID_CHECK_FEATURES_H_
#define LATHE_ANDROID_CHECK_FEATURES_H_

#define __BIONIC__ 1

#endif /* LATHE_ANDROID_CHECK_FEATURES_H_ */
