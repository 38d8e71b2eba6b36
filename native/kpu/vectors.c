/* Finds the vector unit of this processor. */
#include "vectors.h"

#include <stddef.h>

const kpu_vectors* kpu_vectors_here(void) {
#if defined(LATHE_KPU_PORTABLE)
  return NULL;
#elif defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") ? &kpu_vectors_avx2 : NULL;
#elif defined(__aarch64__) && defined(__ARM_NEON)
  return &kpu_vectors_neon;
#else
  return NULL;
#endif
}
