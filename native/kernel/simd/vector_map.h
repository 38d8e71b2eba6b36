// A function of vectors on all elements of a row.
#ifndef LATHE_KERNEL_SIMD_VECTOR_MAP_H_
#define LATHE_KERNEL_SIMD_VECTOR_MAP_H_

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

// `to[i] = f(from[i])`; `to` may be `from`.
template <typename F>
inline void MapVectors(const Element* from, Element* to, int64_t count, const F& f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(to + i, f(Load(from + i)));
  const int rest = static_cast<int>(count - i);
  if (rest > 0) StorePart(to + i, f(LoadPart(from + i, rest)), rest);
}

// The same with one copy of an f that is long: the loop is slower and the code shorter.
template <typename F>
inline void MapVectorsShortly(const Element* from, Element* to, int64_t count, const F& f) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t rest = count - i;
    const Vec x = f(rest >= kLanes ? Load(from + i) : LoadPart(from + i, static_cast<int>(rest)));
    if (rest >= kLanes) {
      Store(to + i, x);
    } else {
      StorePart(to + i, x, static_cast<int>(rest));
    }
  }
}

// The same, so many vectors at a time: the loop costs little, and there is another copy of f for each.
template <int vectors, typename F>
inline void MapVectorsTogether(const Element* from, Element* to, int64_t count, const F& f) {
  constexpr int64_t kStep = vectors * kLanes;
  for (; count >= kStep; count -= kStep, from += kStep, to += kStep) {
    Vec x[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) x[i] = f(Load(from + i * kLanes));
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) Store(to + i * kLanes, x[i]);
  }
  MapVectorsShortly(from, to, count, f);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_MAP_H_
