// Memory, as programs on the DSP have it.
#ifndef LATHE_HEXAGON_STDLIB_H_
#define LATHE_HEXAGON_STDLIB_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int posix_memalign(void** memory, size_t alignment, size_t size);
void free(void* memory);
#ifdef __cplusplus
}
#endif

#endif  // LATHE_HEXAGON_STDLIB_H_
