/* Stands in for <stdlib.h> of the Android NDK: memory. */
#ifndef LATHE_ANDROID_CHECK_STDLIB_H_
#define LATHE_ANDROID_CHECK_STDLIB_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void abort(void) __attribute__((noreturn));
void free(void* memory);
void* malloc(size_t size); /* for <immintrin.h> of the compiler */
int posix_memalign(void** memory, size_t alignment, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_STDLIB_H_ */
