/* Stands in for <stdio.h> of the Android NDK: texts from values. */
#ifndef LATHE_ANDROID_CHECK_STDIO_H_
#define LATHE_ANDROID_CHECK_STDIO_H_

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

int snprintf(char* text, size_t size, const char* format, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char* text, size_t size, const char* format, va_list values) __attribute__((format(printf, 3, 0)));

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_STDIO_H_ */
