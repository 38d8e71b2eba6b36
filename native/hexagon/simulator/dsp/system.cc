#include "native/hexagon/simulator/dsp/system.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Linux enters here: the stack holds the arguments, and vectors on it have to be aligned.
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  { r29 = and(r29, #-128) }\n"
    "  { call lathe_dsp_main }\n");

namespace lathe {
namespace hexagon {

namespace {

// A call of Linux: r6 has its number.
long Call(long number, long a, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r6 __asm__("r6") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
  return r0;
}

template <typename T>
long Word(T* pointer) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}

constexpr long kOpenAt = 56, kClose = 57, kSeek = 62, kRead = 63, kWrite = 64, kExit = 93, kExitGroup = 94, kFutex = 98,
               kGetGroup = 155, kGetThread = 178, kUnmap = 215, kMap = 222;

}  // namespace

long Read(int file, void* to, size_t count) { return Call(kRead, file, Word(to), static_cast<long>(count)); }
long Write(int file, const void* from, size_t count) {
  return Call(kWrite, file, Word(from), static_cast<long>(count));
}

long OpenFile(const char* path) {
  constexpr long kHere = -100;  // AT_FDCWD
  return Call(kOpenAt, kHere, Word(path), 0, 0);
}

long FileSize(int file) {
  constexpr long kFromEnd = 2;
  uint64_t size = 0, start = 0;
  if (Call(kSeek, file, 0, 0, Word(&size), kFromEnd) < 0) return -1;
  if (Call(kSeek, file, 0, 0, Word(&start), 0) < 0) return -1;
  return static_cast<long>(size);
}

void CloseFile(int file) { Call(kClose, file); }

void* MapMemory(size_t size) {
  constexpr long kAll = 7, kPrivateAnonymous = 0x22;
  const long at = Call(kMap, 0, static_cast<long>(size), kAll, kPrivateAnonymous, -1, 0);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(static_cast<uintptr_t>(at));
}

void* MapShared(uint32_t process, uint32_t file, size_t size) {
  constexpr long kHere = -100, kReadAndWrite = 2, kBoth = 3, kSharedMap = 1;
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/fd/%u", static_cast<unsigned>(process), static_cast<unsigned>(file));
  const long opened = Call(kOpenAt, kHere, Word(path), kReadAndWrite, 0);
  if (opened < 0) return nullptr;
  const long at = Call(kMap, 0, static_cast<long>(size), kBoth, kSharedMap, opened, 0);
  CloseFile(static_cast<int>(opened));
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<void*>(static_cast<uintptr_t>(at));
}

void UnmapMemory(void* memory, size_t size) { Call(kUnmap, Word(memory), static_cast<long>(size)); }

void ExitThread() {
  Call(kExit, 0);
  for (;;) {
  }
}

long ThreadId() { return Call(kGetThread, 0); }

void Sleep(uint32_t* word, uint32_t value) { Call(kFutex, Word(word), 0x80, static_cast<long>(value)); }

void SleepUntilEnded(uint32_t* word, uint32_t value) { Call(kFutex, Word(word), 0, static_cast<long>(value)); }

void Wake(uint32_t* word) { Call(kFutex, Word(word), 0x81, INT32_MAX); }

void Mark(uint32_t number) { Call(kGetGroup, static_cast<long>(0x7a0000 + number)); }

void Exit(int code) {
  Call(kExitGroup, code);
  for (;;) {
  }
}

void Complain(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  Write(2, "dsp: ", 5);
  Write(2, text, strlen(text));
  Write(2, "\n", 1);
}

}  // namespace hexagon
}  // namespace lathe
