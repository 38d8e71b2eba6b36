// The product of a row and a column that both lie in order.
#ifndef LATHE_KERNEL_GEMM_DOT_H_
#define LATHE_KERNEL_GEMM_DOT_H_

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

inline float Dot(const float* a, const float* b, int64_t depth) {
  Vec sums[4] = {Fill(0.0f), Fill(0.0f), Fill(0.0f), Fill(0.0f)};
  int64_t k = 0;
  for (; k + 4 * kLanes <= depth; k += 4 * kLanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sums[j] = MulAdd(Load(a + k + j * kLanes), Load(b + k + j * kLanes), sums[j]);
  }
  for (; k < depth; k += kLanes) {
    const int count = static_cast<int>(depth - k < kLanes ? depth - k : kLanes);
    sums[0] = MulAdd(LoadPart(a + k, count), LoadPart(b + k, count), sums[0]);
  }
  return SumLanes(Add(Add(sums[0], sums[1]), Add(sums[2], sums[3])));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_DOT_H_
