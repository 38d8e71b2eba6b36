/* Executes the check: Android's libm on top of glibc's. On 32-bit ARM the two pass numbers in different registers. */
#if defined(__arm__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static void* glibc(const char* name) {
  static void* library;
  if (library == NULL) library = dlopen("libm.so.6", RTLD_NOW);
  return dlsym(library, name);
}

#define OF_ONE(type, name)                                             \
  __attribute__((pcs("aapcs"))) type soft_##name(type) __asm__(#name); \
  type soft_##name(type x) { return ((type (*)(type))glibc(#name))(x); }
#define OF_TWO(type, name)                                                   \
  __attribute__((pcs("aapcs"))) type soft_##name(type, type) __asm__(#name); \
  type soft_##name(type x, type y) { return ((type (*)(type, type))glibc(#name))(x, y); }

OF_ONE(double, ceil)
OF_ONE(float, ceilf)
OF_ONE(double, cos)
OF_ONE(double, erf)
OF_ONE(double, exp)
OF_ONE(double, floor)
OF_ONE(float, floorf)
OF_TWO(double, fmod)
OF_TWO(float, fmodf)
OF_ONE(double, log)
OF_TWO(double, pow)
OF_TWO(float, powf)
OF_ONE(double, sin)
OF_ONE(double, sqrt)
OF_ONE(float, sqrtf)
OF_ONE(double, tan)
OF_ONE(double, tanh)
#endif
