// The softmax of one row, for the kernels of this operator.
#pragma once

#include "native/kernel/loops/elementwise.h"
#include "native/kernel/math/math.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

constexpr int64_t kBlock = 64;  // vectors that are summed as floats; the results are summed as doubles

inline Vec LoadUpTo(const float* from, int64_t count) {
  return count >= kLanes ? Load(from) : LoadPart(from, static_cast<int>(count));
}

inline void StoreUpTo(float* to, Vec x, int64_t count) {
  count >= kLanes ? Store(to, x) : StorePart(to, x, static_cast<int>(count));
}

// One row whose elements are neighbours. `to` may be `from`.
void Row(const float* from, int64_t size, float* to) {
  float best = from[0];
  int64_t i = 0;
  if (size >= kLanes) {
    Vec most = Load(from);
    for (i = kLanes; i + kLanes <= size; i += kLanes) most = AtLeast(Load(from + i), most);
    best = MaxLanes(most);
  }
  for (; i < size; ++i) best = from[i] > best ? from[i] : best;
  const Vec top = Fill(best);
  double sum = 0.0;
  for (i = 0; i < size;) {
    const int64_t end = i + kBlock * kLanes < size ? i + kBlock * kLanes : size;
    Vec part = Fill(0.0f);
    for (; i < end; i += kLanes) {
      const int64_t rest = size - i;
      const Vec power = Exp(Sub(LoadUpTo(from + i, rest), top));
      StoreUpTo(to + i, power, rest);
      part = Add(part, rest >= kLanes ? power : Part(power, static_cast<int>(rest)));
    }
    sum += static_cast<double>(SumLanes(part));
  }
  const Vec factor = Fill(static_cast<float>(1.0 / sum));
  MapVectors(to, to, size, [factor](Vec x) { return Mul(x, factor); });
}

}  // namespace
}  // namespace lathe
