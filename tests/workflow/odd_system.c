// Stands before the C library (LD_PRELOAD) and gives it the habits of other systems: LATHE_ODD_SYSTEM names one.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int Is(const char* name) {
  const char* asked = getenv("LATHE_ODD_SYSTEM");
  return asked != NULL && strcmp(asked, name) == 0;
}

static int Failed(int code) {
  errno = code;
  return -1;
}

// A clock that somebody sets at every moment, years ahead or back.
static long Jump(void) {
  static unsigned state = 1;
  state = state * 1664525U + 1013904223U;
  return (long)(state >> 8) * 20 - 160000000;
}

int clock_gettime(clockid_t clock, struct timespec* told) {
  const int code = (int)syscall(SYS_clock_gettime, clock, told);
  if (code == 0 && clock == CLOCK_REALTIME && Is("a clock that jumps")) told->tv_sec += Jump();
  return code;
}

int gettimeofday(struct timeval* told, void* zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  told->tv_sec = now.tv_sec;
  told->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* told) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (told != NULL) *told = now.tv_sec;
  return now.tv_sec;
}

// Network file systems without a lock server.
int flock(int file, int operation) {
  return Is("no locks") ? Failed(ENOLCK) : (int)syscall(SYS_flock, file, operation);
}

// File systems in programs.
int fsync(int file) { return Is("no fsync") ? Failed(EINVAL) : (int)syscall(SYS_fsync, file); }

// Memory cards and shares of other systems have neither modes nor times of one's own. CMake needs them in the cache.
static int IsOutput(const char* path) { return strstr(path, ".digits.new") != NULL || strstr(path, "out/") != NULL; }

int chmod(const char* path, mode_t mode) {
  return Is("no modes") && IsOutput(path) ? Failed(EPERM) : (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

int utimensat(int folder, const char* path, const struct timespec times[2], int flags) {
  return Is("no times") ? Failed(EPERM) : (int)syscall(SYS_utimensat, folder, path, times, flags);
}

int link(const char* from, const char* to) {
  return Is("no links") ? Failed(EPERM) : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlink(const char* from, const char* to) {
  return Is("no links") ? Failed(EPERM) : (int)syscall(SYS_symlinkat, from, AT_FDCWD, to);
}

// Folders of a lower layer of a container's image stay where they are; the answer to a rename that a server has done
// gets lost, and the second try finds nothing.
int rename(const char* from, const char* to) {
  static unsigned count = 0;
  struct stat found;
  if (Is("layers") && stat(from, &found) == 0 && S_ISDIR(found.st_mode) && strstr(from, ".new") == NULL) {
    return Failed(EXDEV);
  }
  const int code = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  return code == 0 && Is("lost answers") && ++count % 3 == 0 ? Failed(ENOENT) : code;
}

// A removed file that is still open stays in its folder under another name.
int rmdir(const char* path) {
  return Is("files that stay") ? Failed(ENOTEMPTY) : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int unlinkat(int folder, const char* path, int flags) {
  if ((flags & AT_REMOVEDIR) != 0 && Is("files that stay")) return Failed(ENOTEMPTY);
  return (int)syscall(SYS_unlinkat, folder, path, flags);
}
