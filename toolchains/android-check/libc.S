/* Stands in for libc.so of Android 5 (API level 21): the names that native code may need, so that a library which needs
 * another one does not link. */
#define NAME(name) .globl name; .type name, %function; name: .byte 0

NAME(__errno)
NAME(__stack_chk_fail)
NAME(abort)
NAME(clock_gettime)
NAME(close)
NAME(free)
NAME(getauxval)
NAME(getpid)
NAME(lseek)
NAME(memchr)
NAME(memcmp)
NAME(memcpy)
NAME(memmove)
NAME(memset)
NAME(mmap)
NAME(munmap)
NAME(open)
NAME(posix_memalign)
NAME(pthread_create)
NAME(pthread_join)
NAME(pthread_sigmask)
NAME(sched_getaffinity)
NAME(sigfillset)
NAME(snprintf)
NAME(strcmp)
NAME(strerror)
NAME(strlen)
NAME(strrchr)
NAME(syscall)
NAME(sysconf)
NAME(vsnprintf)
NAME(write)

#if defined(__arm__)
NAME(__aeabi_memclr)
NAME(__aeabi_memclr4)
NAME(__aeabi_memclr8)
NAME(__aeabi_memcpy)
NAME(__aeabi_memcpy4)
NAME(__aeabi_memcpy8)
NAME(__aeabi_memmove)
NAME(__aeabi_memmove4)
NAME(__aeabi_memmove8)
NAME(__aeabi_memset)
NAME(__aeabi_memset4)
NAME(__aeabi_memset8)

    .data
    .balign 4
    .globl __stack_chk_guard
    .type __stack_chk_guard, %object
    .size __stack_chk_guard, 4
__stack_chk_guard: .long 0
#endif
