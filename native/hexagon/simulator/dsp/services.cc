// What programs import from the DSP's system: memory, strings, messages, threads. The list is the specification's.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "native/hexagon/simulator/dsp/system.h"

namespace lathe {
namespace hexagon {

namespace {

uint32_t live_blocks = 0;

// In front of each block of the heap.
struct Block {
  size_t mapped;
  uint8_t rest[124];
};
static_assert(sizeof(Block) == 128, "blocks begin at whole vectors");

void* Allocate(size_t size) {
  if (size > (size_t{1} << 30)) return nullptr;
  const size_t mapped = (sizeof(Block) + size + 4095) & ~size_t{4095};
  auto* block = static_cast<Block*>(MapMemory(mapped));
  if (block == nullptr) return nullptr;
  block->mapped = mapped;
  ++live_blocks;
  return block + 1;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  Block* block = static_cast<Block*>(memory) - 1;
  --live_blocks;
  UnmapMemory(block, block->mapped);
}

int Nothing() { return 0; }
int Refused() { return -1; }
uint64_t AsMicroseconds(uint64_t count) { return count * 10 / 192; }
[[noreturn]] void Smashed() {
  Complain("a program has overwritten its stack");
  Exit(134);
}
const uintptr_t stack_guard = 0x5bd1e995;

struct Service {
  const char* name;
  uintptr_t address;
};

template <typename T>
uintptr_t AddressOf(T* object) {
  return reinterpret_cast<uintptr_t>(object);
}

}  // namespace

uint32_t LiveBlocks() { return live_blocks; }

uintptr_t SystemSymbol(const char* name) {
  static const Service services[] = {
      {"memcpy", AddressOf(memcpy)},
      {"memset", AddressOf(memset)},
      {"strlen", AddressOf(strlen)},
      {"strcmp", AddressOf(strcmp)},
      {"snprintf", AddressOf(snprintf)},
      {"vsnprintf", AddressOf(vsnprintf)},
      {"__wrap_malloc", AddressOf(Allocate)},
      {"__wrap_free", AddressOf(Free)},
      {"__cxa_finalize", AddressOf(Nothing)},
      {"__stack_chk_fail", AddressOf(Smashed)},
      {"__stack_chk_guard", AddressOf(&stack_guard)},
      {"qurt_hvx_lock", AddressOf(Nothing)},
      {"qurt_hvx_unlock", AddressOf(Nothing)},
      {"qurt_mutex_init", AddressOf(Nothing)},
      {"qurt_mutex_lock", AddressOf(Nothing)},
      {"qurt_mutex_unlock", AddressOf(Nothing)},
      {"qurt_mutex_destroy", AddressOf(Nothing)},
      {"qurt_thread_create", AddressOf(Refused)},
      {"HAP_power_set", AddressOf(Nothing)},
      {"HAP_perf_qtimer_count_to_us", AddressOf(AsMicroseconds)},
  };
  for (const Service& service : services) {
    if (strcmp(service.name, name) == 0) return service.address;
  }
  return 0;
}

}  // namespace hexagon
}  // namespace lathe

extern "C" {

void* memcpy(void* to, const void* from, size_t count) {
  auto* target = static_cast<volatile uint8_t*>(to);  // so that it is not taken for a call of itself
  const auto* source = static_cast<const uint8_t*>(from);
  size_t at = 0;
  if (((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 7) == 0) {
    for (; at + 8 <= count; at += 8) {
      *reinterpret_cast<volatile uint64_t*>(target + at) = *reinterpret_cast<const uint64_t*>(source + at);
    }
  }
  for (; at < count; ++at) target[at] = source[at];
  return to;
}

void* memset(void* to, int byte, size_t count) {
  auto* target = static_cast<volatile uint8_t*>(to);
  for (size_t i = 0; i < count; ++i) target[i] = static_cast<uint8_t>(byte);
  return to;
}

size_t strlen(const char* text) {
  size_t count = 0;
  for (const volatile char* at = text; at[count] != 0;) ++count;
  return count;
}

int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<uint8_t>(*a) - static_cast<uint8_t>(*b);
}

int snprintf(char* to, size_t size, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vsnprintf(to, size, format, arguments);
  va_end(arguments);
  return count;
}

}  // extern "C"
