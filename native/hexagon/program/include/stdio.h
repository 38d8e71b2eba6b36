// Messages, as programs on the DSP have them.
#ifndef LATHE_HEXAGON_STDIO_H_
#define LATHE_HEXAGON_STDIO_H_

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((format(printf, 3, 4))) int snprintf(char* to, size_t size, const char* format, ...);
int vsnprintf(char* to, size_t size, const char* format, va_list arguments);
#ifdef __cplusplus
}
#endif

#endif  // LATHE_HEXAGON_STDIO_H_
