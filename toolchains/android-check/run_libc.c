/* Executes the check: Android's libc on top of glibc. What the two have in common is found in glibc; here is what they
 * call or lay out differently. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long bionic_sigset; /* as in include/signal.h */

int* __errno(void);
int* __errno(void) { return &errno; }

int bionic_sigfillset(bionic_sigset* set) __asm__("sigfillset");
int bionic_sigfillset(bionic_sigset* set) {
  *set = ~0ul;
  return 0;
}

int bionic_sigmask(int how, const bionic_sigset* now, bionic_sigset* before) __asm__("pthread_sigmask");
int bionic_sigmask(int how, const bionic_sigset* now, bionic_sigset* before) {
  sigset_t wide, old;
  sigemptyset(&wide);
  if (now != NULL) memcpy(&wide, now, sizeof(*now));
  const int failed = sigprocmask(how, now != NULL ? &wide : NULL, &old) == 0 ? 0 : errno;
  if (failed == 0 && before != NULL) memcpy(before, &old, sizeof(*before));
  return failed;
}

long bionic_sysconf(int name) __asm__("sysconf");
long bionic_sysconf(int name) {
  const int processors_online = 0x61; /* _SC_NPROCESSORS_ONLN of Android */
  return name == processors_online ? 1 : -1;
}
