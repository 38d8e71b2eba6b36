// Two or three rows of elements put side by side, as where channels go last or are shuffled: on 64-bit ARM, which has
// instructions for that.
#ifndef LATHE_CORE_INTERLEAVE_H_
#define LATHE_CORE_INTERLEAVE_H_

#include <stdint.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lathe {
namespace {

// to[i * rows + row] = from[row * stride + i] for i < length. False where it has done nothing: too few elements for a
// vector, another number of rows, another machine.
template <typename T>
inline bool Interleave(const T*, int64_t, int64_t, int64_t, T*) {
  return false;
}

#if defined(__aarch64__)

// The last vector overlaps the one before. What is stored has a name first: stores are macros of some compilers, which
// do not take braces.
template <typename T, typename F>
inline bool ForVectors(int64_t length, const F& f) {
  constexpr int64_t kLanes = 16 / sizeof(T);
  if (length < kLanes) return false;
  for (int64_t i = 0; i < length; i += kLanes) f(i + kLanes <= length ? i : length - kLanes);
  return true;
}

inline bool Interleave(const uint16_t* from, int64_t stride, int64_t rows, int64_t length, uint16_t* to) {
  const auto row = [=](int64_t number, int64_t i) { return vld1q_u16(from + number * stride + i); };
  switch (rows) {
    case 2:
      return ForVectors<uint16_t>(length, [=](int64_t i) {
        const uint16x8x2_t together = {{row(0, i), row(1, i)}};
        vst2q_u16(to + 2 * i, together);
      });
    case 3:
      return ForVectors<uint16_t>(length, [=](int64_t i) {
        const uint16x8x3_t together = {{row(0, i), row(1, i), row(2, i)}};
        vst3q_u16(to + 3 * i, together);
      });
    default:
      return false;
  }
}

inline bool Interleave(const uint32_t* from, int64_t stride, int64_t rows, int64_t length, uint32_t* to) {
  const auto row = [=](int64_t number, int64_t i) { return vld1q_u32(from + number * stride + i); };
  switch (rows) {
    case 2:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        const uint32x4x2_t together = {{row(0, i), row(1, i)}};
        vst2q_u32(to + 2 * i, together);
      });
    case 3:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        const uint32x4x3_t together = {{row(0, i), row(1, i), row(2, i)}};
        vst3q_u32(to + 3 * i, together);
      });
    default:
      return false;
  }
}

#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_INTERLEAVE_H_
