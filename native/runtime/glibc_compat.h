// Binds functions that glibc 2.34 moved from libpthread and libdl into libc to the symbol versions of old, so that a
// library that is built on a new system runs on an old one (glibc 2.17; RISC-V begins with 2.27). Included by every
// file that calls one of them.
//
// Sanitizers wrap these functions under their plain names, and a static glibc knows no versions: both do without.
// (LATHE_NO_SYMVER says the latter; it cannot be found out here.)
#ifndef LATHE_RUNTIME_GLIBC_COMPAT_H_
#define LATHE_RUNTIME_GLIBC_COMPAT_H_

#include <stdlib.h>  // defines __GLIBC__

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LATHE_NO_SYMVER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LATHE_NO_SYMVER 1
#endif

#if defined(__GLIBC__) && !defined(LATHE_NO_SYMVER)
#if defined(__x86_64__) && defined(__LP64__)
#define LATHE_OLD_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define LATHE_OLD_GLIBC "GLIBC_2.17"
#elif defined(__arm__)
#define LATHE_OLD_GLIBC "GLIBC_2.4"
#elif defined(__riscv) && __riscv_xlen == 64
#define LATHE_OLD_GLIBC "GLIBC_2.27"
#endif
#endif

#ifdef LATHE_OLD_GLIBC
#define LATHE_BIND_OLD(function) __asm__(".symver " #function "," #function "@" LATHE_OLD_GLIBC)
LATHE_BIND_OLD(pthread_create);
LATHE_BIND_OLD(pthread_join);
LATHE_BIND_OLD(pthread_sigmask);
LATHE_BIND_OLD(dlopen);
LATHE_BIND_OLD(dlsym);
LATHE_BIND_OLD(dlerror);
#undef LATHE_BIND_OLD
#endif

#endif  // LATHE_RUNTIME_GLIBC_COMPAT_H_
