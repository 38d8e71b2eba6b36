/* Stands in for <sys/mman.h> of the Android NDK: files in memory. */
#ifndef LATHE_ANDROID_CHECK_SYS_MMAN_H_
#define LATHE_ANDROID_CHECK_SYS_MMAN_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROT_READ 0x1
#define MAP_PRIVATE 0x02
#define MAP_FAILED ((void*)-1)

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset);
int munmap(void* memory, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_SYS_MMAN_H_ */
