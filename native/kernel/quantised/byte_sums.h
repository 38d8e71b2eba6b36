// Means of bytes.
#ifndef LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_
#define LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_

#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

// What a mean is in steps of the output. `offset` is what the zero points of all that is summed come to.
struct ByteMeans {
  int32_t x_zero;
  float factor;
  Steps steps;
};

inline int8_t MeanOf(const ByteMeans& means, int32_t sum, int32_t offset, float divisor) {
  return ByteOf(static_cast<float>(sum - offset) * means.factor / divisor, means.steps);
}

inline void StoreMeans(const ByteMeans& means, const SixteenSums& sums, int32_t offset, float divisor, int8_t* to) {
  int32_t ints[kStretch];
  sums.StoreTo(ints);
  for (int32_t& sum : ints) sum -= offset;
  (Sixteen::OfInts(ints) * Sixteen::Fill(means.factor) / Sixteen::Fill(divisor)).Store(means.steps, to);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_
