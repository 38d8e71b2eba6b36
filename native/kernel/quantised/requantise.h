// Results as bytes: one rounding for all kernels and instruction sets. Loops over a whole stretch of kStretch numbers
// are written for compilers, which turn them into vectors.
#ifndef LATHE_KERNEL_QUANTISED_REQUANTISE_H_
#define LATHE_KERNEL_QUANTISED_REQUANTISE_H_

#include <stdint.h>
#include <string.h>

namespace lathe {

// How results are stored. `low` and `high` limit them in steps, zero point not added: within [-255, 255].
struct Steps {
  int32_t zero;
  float low;
  float high;
};

// From one way of storing to another: the zero point that goes, and the factor to the steps that come.
struct ByteConversion {
  int32_t zero;
  float factor;
  Steps steps;
};

namespace {

constexpr int kStretch = 16;

// The nearest whole number, ties to the even one: adding 1.5 * 2^23 leaves no room for a fraction. NaN is `high`.
inline int8_t ByteOf(float value, const Steps& steps) {
  constexpr float kNoFraction = 12582912.0f;
  value = value < steps.high ? value : steps.high;
  value = value > steps.low ? value : steps.low;
  return static_cast<int8_t>(static_cast<int32_t>((value + kNoFraction) - kNoFraction) + steps.zero);
}

// A stretch of values. Copies, which compilers know that nothing else points to, let them use vectors.
inline void StoreSteps(const float (&values)[kStretch], const Steps& steps, int8_t* to) {
  const Steps own = steps;
  int8_t bytes[kStretch];
  for (int i = 0; i < kStretch; ++i) bytes[i] = ByteOf(values[i], own);
  memcpy(to, bytes, sizeof bytes);
}

// How any bytes are stored, without limits of their own.
inline Steps WholeSteps(int32_t zero) {
  return {zero, static_cast<float>(-128 - zero), static_cast<float>(127 - zero)};
}

inline int8_t ConvertByte(const ByteConversion& conversion, int8_t x) {
  return ByteOf(static_cast<float>(x - conversion.zero) * conversion.factor, conversion.steps);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_REQUANTISE_H_
