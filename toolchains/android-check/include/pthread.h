/* Stands in for <pthread.h> of the Android NDK: threads. */
#ifndef LATHE_ANDROID_CHECK_PTHREAD_H_
#define LATHE_ANDROID_CHECK_PTHREAD_H_

#include <signal.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long pthread_t;
typedef struct pthread_attr_t pthread_attr_t;

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
int pthread_join(pthread_t thread, void** result);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_PTHREAD_H_ */
