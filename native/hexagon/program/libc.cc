// What the runtime calls of the C library and the DSP's loader does not bring.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace {

// Under names of their own, so that compilers do not take them for calls of what they define.
double Floor(double x) {
  constexpr double kNoFraction = 4503599627370496.0;  // 2^52
  if (!(x > -kNoFraction && x < kNoFraction) || x == 0) return x;
  const double whole = static_cast<double>(static_cast<int64_t>(x));  // towards zero
  return __builtin_copysign(whole > x ? whole - 1.0 : whole, x);
}

// Bit by bit, rounded to nearest: the square of what is found so far never exceeds the number.
double Root(double x) {
  if (!(x > 0)) return x == 0 ? x : __builtin_nan("");
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = static_cast<int>(bits >> 52);
  if (exponent == 0x7ff) return x;
  uint64_t number = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0) {
    for (exponent = 1; number >> 52 == 0; --exponent) number <<= 1;
  }
  number |= uint64_t{1} << 52;
  exponent -= 1023;
  if ((exponent & 1) != 0) {
    number <<= 1;
    --exponent;
  }
  // 54 bits of the root: one more than the result keeps.
  uint64_t root = 0, rest = 0;
  for (int step = 0; step < 54; ++step) {
    rest = rest << 2 | (step < 27 ? number >> (52 - 2 * step) & 3 : 0);
    const uint64_t next = root << 2 | 1;
    root <<= 1;
    if (rest >= next) {
      rest -= next;
      root |= 1;
    }
  }
  const uint64_t rounded = (root >> 1) + (root & 1);  // never halfway: the rest would have to be zero and the bit one
  const uint64_t result = (static_cast<uint64_t>(exponent / 2 + 1022) << 52) + rounded;
  double y;
  memcpy(&y, &result, sizeof y);
  return y;
}

}  // namespace

extern "C" {

// The DSP's heap: its loader resolves these names.
void* __wrap_malloc(size_t size);
void __wrap_free(void* memory);

// The address of the block that the heap gave stands in front of the memory.
int posix_memalign(void** memory, size_t alignment, size_t size) {
  constexpr int kNoMemory = 12;  // ENOMEM
  if (size > SIZE_MAX / 2) return kNoMemory;
  void* block = __wrap_malloc(size + alignment + sizeof(void*));
  if (block == nullptr) return kNoMemory;
  const uintptr_t first = reinterpret_cast<uintptr_t>(block) + sizeof(void*);
  void** place = reinterpret_cast<void**>((first + alignment - 1) & ~(alignment - 1));
  place[-1] = block;
  *memory = place;
  return 0;
}

void free(void* memory) {
  if (memory != nullptr) __wrap_free(static_cast<void**>(memory)[-1]);
}

void* memmove(void* to, const void* from, size_t count) {
  auto* target = static_cast<volatile uint8_t*>(to);  // so that it is not taken for a call of itself
  const auto* source = static_cast<const uint8_t*>(from);
  if (target <= source) {
    for (size_t i = 0; i < count; ++i) target[i] = source[i];
  } else {
    while (count-- > 0) target[count] = source[count];
  }
  return to;
}

int memcmp(const void* a, const void* b, size_t count) {
  const auto *left = static_cast<const uint8_t*>(a), *right = static_cast<const uint8_t*>(b);
  for (size_t i = 0; i < count; ++i) {
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  }
  return 0;
}

void* memchr(const void* memory, int byte, size_t count) {
  const auto* bytes = static_cast<const uint8_t*>(memory);
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] == static_cast<uint8_t>(byte)) return const_cast<uint8_t*>(bytes + i);
  }
  return nullptr;
}

char* strrchr(const char* text, int wanted) {
  const char* found = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) found = text;
    if (*text == 0) return const_cast<char*>(found);
  }
}

// The system's timer counts 19.2 million times a second.
int clock_gettime(int, timespec* now) {
  uint64_t count;
  __asm__ volatile("%0 = c31:30" : "=r"(count));
  constexpr uint64_t kPerSecond = 19200000;
  now->tv_sec = static_cast<long long>(count / kPerSecond);
  now->tv_nsec = static_cast<long>(count % kPerSecond * 10000 / 192);
  return 0;
}

double floor(double x) { return Floor(x); }
double ceil(double x) { return -Floor(-x); }
float floorf(float x) { return static_cast<float>(Floor(static_cast<double>(x))); }
float ceilf(float x) { return static_cast<float>(-Floor(-static_cast<double>(x))); }
double sqrt(double x) { return Root(x); }
float sqrtf(float x) { return static_cast<float>(Root(static_cast<double>(x))); }

}  // extern "C"
