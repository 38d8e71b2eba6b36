// Conversions between element types, defined for all values: to a smaller float rounded to nearest even, infinite where
// too large; float to integer cut towards zero and limited, 0 for NaN; integer to integer wraps; to bool whether not 0.
#ifndef LATHE_KERNEL_MATH_CONVERT_H_
#define LATHE_KERNEL_MATH_CONVERT_H_

#include <stdint.h>
#include <string.h>

#include "native/runtime/half.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// Element types that have no C++ type of their own.
struct Half {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

template <typename T>
constexpr bool kIsFloat = false;
template <>
constexpr bool kIsFloat<float> = true;
template <>
constexpr bool kIsFloat<double> = true;

template <typename T>
struct Limits;
#define LATHE_LIMITS(type, low, high)   \
  template <>                           \
  struct Limits<type> {                 \
    static constexpr type kLow = low;   \
    static constexpr type kHigh = high; \
  };
LATHE_LIMITS(int8_t, INT8_MIN, INT8_MAX)
LATHE_LIMITS(uint8_t, 0, UINT8_MAX)
LATHE_LIMITS(int16_t, INT16_MIN, INT16_MAX)
LATHE_LIMITS(uint16_t, 0, UINT16_MAX)
LATHE_LIMITS(int32_t, INT32_MIN, INT32_MAX)
LATHE_LIMITS(uint32_t, 0, UINT32_MAX)
LATHE_LIMITS(int64_t, INT64_MIN, INT64_MAX)
LATHE_LIMITS(uint64_t, 0, UINT64_MAX)
#undef LATHE_LIMITS

// Rounds the magnitude of a finite double to `mantissa` bits at exponents of at least `least`, ties to even, by adding
// and taking away a number whose last bit is that of the result.
inline double RoundToBits(double size, int mantissa, int least) {
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent < least) exponent = least;
  const uint64_t magic_bits = static_cast<uint64_t>(exponent - mantissa + 52 + 1023) << 52;
  double magic;
  memcpy(&magic, &magic_bits, sizeof magic);
  return (size + magic) - magic;
}

inline uint16_t HalfBits(double value) {
#if defined(__aarch64__)
  const __fp16 half = static_cast<__fp16>(value);
  uint16_t bits;
  memcpy(&bits, &half, sizeof bits);
  return bits;
#else
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint16_t sign = static_cast<uint16_t>(bits >> 63 << 15);
  if (value != value) return static_cast<uint16_t>(sign | 0x7e00);
  const double size = value < 0 ? -value : value;
  if (size >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
  const double rounded = RoundToBits(size, 10, -14);
  if (rounded < 6.103515625e-05) return static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded * 16777216.0));
  memcpy(&bits, &rounded, sizeof bits);
  return static_cast<uint16_t>(sign | (((bits >> 52) - 1023 + 15) << 10) | (bits >> 42 & 0x3ff));
#endif
}

inline uint16_t Bf16Bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A value as it is computed with: 16-bit floats as float, bool as integer.
template <typename T>
inline T Widen(T value) {
  return value;
}
inline float Widen(Half value) { return FloatFromF16(value.bits); }
inline float Widen(Bf16 value) { return FloatFromBf16(value.bits); }
inline uint8_t Widen(Bool value) { return value.value; }

template <typename To, typename From>
struct Narrow {
  static To Apply(From value) {
    if constexpr (kIsFloat<From> && !kIsFloat<To>) {
      // 2^n - 1 rounds up to 2^n where the float cannot hold it: hence >= against the next power of two.
      constexpr From kEnd = static_cast<From>(Limits<To>::kHigh / 2 + 1) * 2;
      if (value != value) return 0;
      if (value <= static_cast<From>(Limits<To>::kLow)) return Limits<To>::kLow;
      return value >= kEnd ? Limits<To>::kHigh : static_cast<To>(value);
    } else {
      return static_cast<To>(value);
    }
  }
};
template <typename From>
struct Narrow<Half, From> {
  static Half Apply(From value) { return {HalfBits(static_cast<double>(value))}; }
};
template <typename From>
struct Narrow<Bf16, From> {
  static Bf16 Apply(From value) { return {Bf16Bits(static_cast<float>(value))}; }
};
template <typename From>
struct Narrow<Bool, From> {
  static Bool Apply(From value) { return {static_cast<uint8_t>(value != 0 ? 1 : 0)}; }
};

template <typename To, typename From>
inline To Convert(From value) {
  const auto wide = Widen(value);
  return Narrow<To, decltype(Widen(value))>::Apply(wide);
}

// What a pointer to constant points to.
template <typename Pointer>
struct Pointee;
template <typename T>
struct Pointee<const T*> {
  using Type = T;
};

// Calls `f` with a null pointer of the C++ type of an element type; false where it has none.
template <typename F>
inline bool WithTypeOf(DType dtype, const F& f) {
  switch (dtype) {
    case DType::kNone:
      return false;
    case DType::kF32:
      f(static_cast<const float*>(nullptr));
      break;
    case DType::kF16:
      f(static_cast<const Half*>(nullptr));
      break;
    case DType::kBF16:
      f(static_cast<const Bf16*>(nullptr));
      break;
    case DType::kF64:
      f(static_cast<const double*>(nullptr));
      break;
    case DType::kS8:
      f(static_cast<const int8_t*>(nullptr));
      break;
    case DType::kU8:
      f(static_cast<const uint8_t*>(nullptr));
      break;
    case DType::kS16:
      f(static_cast<const int16_t*>(nullptr));
      break;
    case DType::kU16:
      f(static_cast<const uint16_t*>(nullptr));
      break;
    case DType::kS32:
      f(static_cast<const int32_t*>(nullptr));
      break;
    case DType::kU32:
      f(static_cast<const uint32_t*>(nullptr));
      break;
    case DType::kS64:
      f(static_cast<const int64_t*>(nullptr));
      break;
    case DType::kU64:
      f(static_cast<const uint64_t*>(nullptr));
      break;
    case DType::kBool:
      f(static_cast<const Bool*>(nullptr));
      break;
  }
  return true;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_MATH_CONVERT_H_
