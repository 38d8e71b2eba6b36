/* Stands in for <sched.h> of the Android NDK: which processors a thread may use. */
#ifndef LATHE_ANDROID_CHECK_SCHED_H_
#define LATHE_ANDROID_CHECK_SCHED_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As wide as a long at least: that is 32 bits on 32-bit Android, and 1024 on 64-bit Android. */
#ifdef __LP64__
#define CPU_SETSIZE 1024
#else
#define CPU_SETSIZE 32
#endif
typedef struct {
  unsigned long bits[CPU_SETSIZE / (8 * sizeof(long))];
} cpu_set_t;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set);
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* set);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_SCHED_H_ */
