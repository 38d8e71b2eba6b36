// Products of some rows with a few columns whose weights are constant: a vector holds elements of depth, and its lanes
// are added up at the end.
#ifndef LATHE_KERNEL_GEMM_DOTS_H_
#define LATHE_KERNEL_GEMM_DOTS_H_

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int64_t kMostSums = 4;  // columns

// Adds rows times weights, which are [vectors of depth][sums][kLanes], zero behind the depth, and returns their end.
template <int rows, int sums>
inline const float* AddDots(const float* const* from, int64_t depth, const float* weights, Vec (&all)[rows * sums]) {
  const auto add = [&](int64_t k, const auto& load) {
    Vec x[rows];
#pragma GCC unroll 8
    for (int p = 0; p < rows; ++p) x[p] = load(from[p] + k);
#pragma GCC unroll 4
    for (int s = 0; s < sums; ++s, weights += kLanes) {
      const Vec w = Load(weights);
#pragma GCC unroll 8
      for (int p = 0; p < rows; ++p) all[p * sums + s] = MulAdd(x[p], w, all[p * sums + s]);
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) add(k, [](const float* at) { return Load(at); });
  const int rest = static_cast<int>(depth - k);
  if (rest > 0) add(k, [rest](const float* at) { return LoadPart(at, rest); });
  return weights;
}

template <int count>
inline void StoreDots(float* to, const Vec (&all)[count]) {
  static_assert(count % 4 == 0, "sums are stored by four");
#pragma GCC unroll 4
  for (int i = 0; i < count; i += 4) StoreSums(to + i, all[i], all[i + 1], all[i + 2], all[i + 3]);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_DOTS_H_
