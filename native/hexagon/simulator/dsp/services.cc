// What programs import from the DSP's system: memory, strings, messages, threads. The list is the specification's.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "native/hexagon/fastrpc.h"
#include "native/hexagon/power_request.h"
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
  __atomic_fetch_add(&live_blocks, 1, __ATOMIC_SEQ_CST);
  return block + 1;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  Block* block = static_cast<Block*>(memory) - 1;
  __atomic_fetch_sub(&live_blocks, 1, __ATOMIC_SEQ_CST);
  UnmapMemory(block, block->mapped);
}

// What programs say: on the standard error.
void Debug(int, const char* file, int line, const char* text) { Complain("%s:%d: %s", file, line, text); }

void DebugFormatted(int, const char* file, int line, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  Complain("%s:%d: %s", file, line, text);
}

[[noreturn]] void Assert(const char* text) {
  Complain("assertion failed: %s", text);
  Exit(134);
}

unsigned long ToUnsigned(const char* text, char** end, int base) {
  unsigned long number = 0;
  if (base == 0) base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
  if (base == 16 && text[0] == '0' && text[1] == 'x') text += 2;
  for (;; ++text) {
    const char letter = *text >= 'A' && *text <= 'F' ? static_cast<char>(*text - 'A' + 'a') : *text;
    const int digit = letter >= '0' && letter <= '9'   ? letter - '0'
                      : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                       : 99;
    if (digit >= base) break;
    number = number * static_cast<unsigned long>(base) + static_cast<unsigned long>(digit);
  }
  if (end != nullptr) *end = const_cast<char*>(text);
  return number;
}

int ToNumber(const char* text) {
  return *text == '-' ? -static_cast<int>(ToUnsigned(text + 1, nullptr, 10))
                      : static_cast<int>(ToUnsigned(text, nullptr, 10));
}

size_t CopyText(char* to, const char* from, size_t size) {
  const size_t length = strlen(from), kept = length < size ? length : size - 1;
  if (size > 0) {
    memcpy(to, from, kept);
    to[kept] = 0;
  }
  return length;
}

const char* Find(const char* text, const char* wanted) {
  for (const size_t length = strlen(wanted);; ++text) {
    size_t same = 0;
    while (same < length && text[same] == wanted[same]) ++same;
    if (same == length) return text;
    if (*text == 0) return nullptr;
  }
}

bool IsOneOf(char character, const char* characters) {
  while (*characters != 0 && *characters != character) ++characters;
  return *characters != 0;
}

char* Token(char* text, const char* between, char** rest) {
  char* at = text != nullptr ? text : *rest;
  while (*at != 0 && IsOneOf(*at, between)) ++at;
  if (*at == 0) return nullptr;
  char* first = at;
  while (*at != 0 && !IsOneOf(*at, between)) ++at;
  if (*at != 0) *at++ = 0;
  *rest = at;
  return first;
}

int Nothing() { return 0; }

uint32_t voted_corner, voted_latency;
int SetPower(void*, const PowerRequest* request) {
  const bool known =
      request->kind == kPowerVectors || request->kind == kPowerApplication || request->kind == kPowerClocks;
  if (!known || (request->kind == kPowerApplication && request->application != kComputes)) return kBadParameter;
  if (request->kind != kPowerClocks) return kOk;
  voted_corner =
      (request->clocks.has_corners != 0 ? request->clocks.target : 0) | (request->clocks.follows_load != 0 ? 0x100 : 0);
  voted_latency = request->clocks.has_latency != 0 ? request->clocks.latency : 0;
  return kOk;
}
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

void TellPower(uint32_t* corner, uint32_t* latency) {
  *corner = voted_corner;
  *latency = voted_latency;
}

uintptr_t SystemSymbol(const char* name) {
  static const Service services[] = {
      {"memcpy", AddressOf(memcpy)},
      {"memset", AddressOf(memset)},
      {"strlen", AddressOf(strlen)},
      {"strcmp", AddressOf(strcmp)},
      {"snprintf", AddressOf(snprintf)},
      {"vsnprintf", AddressOf(vsnprintf)},
      {"strlcpy", AddressOf(CopyText)},
      {"atoi", AddressOf(ToNumber)},
      {"strstr", AddressOf(Find)},
      {"strtok_r", AddressOf(Token)},
      {"strtoul", AddressOf(ToUnsigned)},
      {"HAP_debug", AddressOf(Debug)},
      {"HAP_debug_v2", AddressOf(DebugFormatted)},
      {"_Assert", AddressOf(Assert)},
      {"__wrap_malloc", AddressOf(Allocate)},
      {"__wrap_free", AddressOf(Free)},
      {"__cxa_finalize", AddressOf(Nothing)},
      {"__register_frame_info_bases", AddressOf(Nothing)},
      {"__stack_chk_fail", AddressOf(Smashed)},
      {"__stack_chk_guard", AddressOf(&stack_guard)},
      {"HAP_power_set", AddressOf(SetPower)},
      {"HAP_perf_qtimer_count_to_us", AddressOf(AsMicroseconds)},
  };
  for (const Service& service : services) {
    if (strcmp(service.name, name) == 0) return service.address;
  }
  return ThreadSymbol(name);
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
