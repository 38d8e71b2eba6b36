/* Stands in for <time.h> of the Android NDK: clocks. */
#ifndef LATHE_ANDROID_CHECK_TIME_H_
#define LATHE_ANDROID_CHECK_TIME_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLOCK_MONOTONIC 1

struct timespec {
  time_t tv_sec;
  long tv_nsec;
};

int clock_gettime(int clock, struct timespec* now);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_TIME_H_ */
