#include "semihosting.h"

#include <string.h>

enum { kOpen = 0x01, kClose = 0x02, kWrite = 0x05, kRead = 0x06, kExitExtended = 0x20 };

static uintptr_t ask(uintptr_t operation, const void* arguments) {
#if defined(__riscv)
  register uintptr_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = arguments;
  __asm__ volatile(
      ".option push\n.option norvc\n.balign 16\n"
      "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n"
      ".option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#else
  register uintptr_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = arguments;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#endif
}

uintptr_t lm_open(const char* name, int writes) {
  const uintptr_t arguments[] = {(uintptr_t)name, writes ? 5 : 1, strlen(name)};
  return ask(kOpen, arguments);
}

size_t lm_read(uintptr_t file, void* to, size_t size) {
  const uintptr_t arguments[] = {file, (uintptr_t)to, size};
  return size - ask(kRead, arguments);
}

void lm_write(uintptr_t file, const void* from, size_t size) {
  const uintptr_t arguments[] = {file, (uintptr_t)from, size};
  (void)ask(kWrite, arguments);
}

void lm_close(uintptr_t file) { (void)ask(kClose, &file); }

void lm_exit(int code) {
  const uintptr_t arguments[] = {0x20026, (uintptr_t)code};
  for (;;) ask(kExitExtended, arguments);
}
