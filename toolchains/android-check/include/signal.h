/* Stands in for <signal.h> of the Android NDK: masks of signals. */
#ifndef LATHE_ANDROID_CHECK_SIGNAL_H_
#define LATHE_ANDROID_CHECK_SIGNAL_H_

#ifdef __cplusplus
extern "C" {
#endif

#define SIG_SETMASK 2

/* One bit for each of 64 signals on 64-bit Android; 32-bit Android has room for 32. */
typedef unsigned long sigset_t;

int sigfillset(sigset_t* set);
int pthread_sigmask(int how, const sigset_t* now, sigset_t* before);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_SIGNAL_H_ */
