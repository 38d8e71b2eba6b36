/* Stands in for <unistd.h> of the Android NDK: processes and files. */
#ifndef LATHE_ANDROID_CHECK_UNISTD_H_
#define LATHE_ANDROID_CHECK_UNISTD_H_

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEEK_END 2
#define STDERR_FILENO 2
#define _SC_NPROCESSORS_CONF 0x0060
#define _SC_NPROCESSORS_ONLN 0x0061

int close(int file);
pid_t getpid(void);
off_t lseek(int file, off_t offset, int from);
long syscall(long number, ...);
long sysconf(int name);
ssize_t read(int file, void* to, size_t size);
ssize_t write(int file, const void* from, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_ANDROID_CHECK_UNISTD_H_ */
