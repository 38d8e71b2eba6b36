/* Executes the check: loaded before all others, it lets a library for Android find Android's names in the libraries
 * that it needs (run_libc.c), and not in the glibc of the program that loads it. */
#define _GNU_SOURCE
#include <dlfcn.h>

void* dlopen(const char* file, int flags) {
  void* (*const real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  return real(file, flags | RTLD_DEEPBIND);
}
