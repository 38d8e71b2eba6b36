/* Stands in for <string.h> of the Android NDK: bytes and texts. */
#ifndef LATHE_ANDROID_CHECK_STRING_H_
#define LATHE_ANDROID_CHECK_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void* memcpy(void* to, const void* from, size_t size);
void* memmove(void* to, const void* from, size_t size);
void* memset(void* to, int byte, size_t size);
int memcmp(const void* a, const void* b, size_t size);
size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
char* strerror(int error);
void* memchr(const void* in, int byte, size_t size);
char* strrchr(const char* in, int letter);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_STRING_H_ */
