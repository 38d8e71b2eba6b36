// What programs on the DSP have of the C library's strings and memory: the DSP's loader or libc.cc brings it.
#ifndef LATHE_HEXAGON_STRING_H_
#define LATHE_HEXAGON_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void* memcpy(void* to, const void* from, size_t count);
void* memmove(void* to, const void* from, size_t count);
void* memset(void* to, int byte, size_t count);
int memcmp(const void* a, const void* b, size_t count);
void* memchr(const void* memory, int byte, size_t count);
size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
char* strrchr(const char* text, int wanted);
#ifdef __cplusplus
}
#endif

#endif  // LATHE_HEXAGON_STRING_H_
