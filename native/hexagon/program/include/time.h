// The clock of programs on the DSP (libc.cc).
#ifndef LATHE_HEXAGON_TIME_H_
#define LATHE_HEXAGON_TIME_H_

#define CLOCK_MONOTONIC 1

struct timespec {
  long long tv_sec;
  long tv_nsec;
};

#ifdef __cplusplus
extern "C" {
#endif
int clock_gettime(int clock, struct timespec* now);
#ifdef __cplusplus
}
#endif

#endif  // LATHE_HEXAGON_TIME_H_
