// Vectors of numbers, one header per instruction set; algorithms are written once over them. simd.h chooses
// the header. Every one offers
//
//   Element                       what lies in memory: float, or a half (vector_fp16.h)
//   Vec, kLanes                   the vector, and how many elements it holds
//   kVectorRegisters              how many of them the machine holds
//   Load, LoadPart, Store, StorePart   unaligned; the latter touch the first `count` (0..kLanes) only, and read
//                                 zeros for the rest
//   Fill                          one float in all lanes
//   Add, Sub, Mul, MulAdd(a, b, c) = a * b + c, rounded once where the machine can
//   AtLeast(x, low), AtMost(x, high)   hand NaN in x through
//   Div(a, b)                     rounded as ever, but within 2 ulp on 32 bit ARM, where the size of b has to lie in
//                                 [2^-126, 2^126], or be zero or infinite
//   Abs, WithSign(size, sign)     the latter: a size that is not negative, with the sign of the other
//   WithExponent(x)               the float whose bits are those of x shifted by 23: x's lowest bits are its exponent
//   TimesPowerOfTwo(x, n)         x * 2^n for whole n in [-252, 252], with overflow and underflow; NaN in both is NaN
//   Mask, Less(a, b), Choose(mask, a, b)   lane by lane; nothing is less than NaN
//   Larger, Smaller               hand NaN in either through
//   Part(x, count)                the first `count` lanes (0..kLanes), zeros for the rest
//   SumLanes, MaxLanes            of all lanes, always in the same order
//   StoreSums(to, a, b, c, d)     the sums of the lanes of four vectors of floats
//   SwapPairs                     lanes 0 and 1, 2 and 3 and so on exchanged, of floats
//   LATHE_ISA                 names the set: the inline namespace of what is compiled once for it
//
// This one is for all machines: the compiler maps it to what there is, or to scalars. Where NEON is there anyway it is
// NEON, so that portable kernels need no companions on ARM. (There, 32 bit machines take denormals for zero.)
#ifndef LATHE_KERNEL_SIMD_VECTOR_PORTABLE_H_
#define LATHE_KERNEL_SIMD_VECTOR_PORTABLE_H_

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/kernel/simd/vector_neon.h"
#else

#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

using Element = float;

struct Vec {
  typedef float Four __attribute__((vector_size(16)));
  Four v;
};

constexpr int kLanes = 4;
constexpr int kVectorRegisters = 16;

inline Vec Load(const float* from) {
  Vec x;
  memcpy(&x.v, from, sizeof x.v);
  return x;
}
inline Vec LoadPart(const float* from, int count) {
  Vec x = {};
  if (count == 4) return Load(from);
  if (count > 0) x.v[0] = from[0];
  if (count > 1) x.v[1] = from[1];
  if (count > 2) x.v[2] = from[2];
  return x;
}
inline void Store(float* to, Vec x) { memcpy(to, &x.v, sizeof x.v); }
inline void StorePart(float* to, Vec x, int count) {
  if (count == 4) return Store(to, x);
  if (count > 0) to[0] = x.v[0];
  if (count > 1) to[1] = x.v[1];
  if (count > 2) to[2] = x.v[2];
}
inline Vec Fill(float x) { return {Vec::Four{x, x, x, x}}; }
inline Vec Add(Vec a, Vec b) { return {a.v + b.v}; }
inline Vec Sub(Vec a, Vec b) { return {a.v - b.v}; }
inline Vec Mul(Vec a, Vec b) { return {a.v * b.v}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {a.v * b.v + c.v}; }
inline Vec AtLeast(Vec x, Vec low) { return {x.v < low.v ? low.v : x.v}; }
inline Vec AtMost(Vec x, Vec high) { return {x.v > high.v ? high.v : x.v}; }
inline Vec Div(Vec a, Vec b) { return {a.v / b.v}; }

struct Mask {
  typedef int32_t Four __attribute__((vector_size(16)));
  Four v;
};

typedef uint32_t VecBits __attribute__((vector_size(16)));  // integers that wrap around

inline Vec Abs(Vec x) { return {(Vec::Four)((VecBits)x.v & 0x7fffffffu)}; }
inline Vec WithSign(Vec size, Vec sign) { return {(Vec::Four)((VecBits)size.v | ((VecBits)sign.v & 0x80000000u))}; }
inline Vec WithExponent(Vec x) { return {(Vec::Four)((VecBits)x.v << 23)}; }
inline Vec TimesPowerOfTwo(Vec x, Vec n) {
  const VecBits whole = (VecBits)(n.v + 12582912.0f) - 0x4b400000u;
  const VecBits half = (VecBits)((Mask::Four)whole >> 1);
  return {x.v * (Vec::Four)((half + 127) << 23) * (Vec::Four)((whole - half + 127) << 23)};
}
inline Mask Less(Vec a, Vec b) { return {a.v < b.v}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {mask.v ? a.v : b.v}; }
inline Vec Larger(Vec a, Vec b) { return {((a.v < b.v) | (b.v != b.v)) ? b.v : a.v}; }
inline Vec Smaller(Vec a, Vec b) { return {((b.v < a.v) | (b.v != b.v)) ? b.v : a.v}; }
inline Vec Part(Vec x, int count) {
  const Mask::Four lanes = {0, 1, 2, 3};
  return {(Vec::Four)((Mask::Four)x.v & (lanes < count))};
}
inline float SumLanes(Vec x) { return (x.v[0] + x.v[2]) + (x.v[1] + x.v[3]); }
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
  to[0] = SumLanes(a);
  to[1] = SumLanes(b);
  to[2] = SumLanes(c);
  to[3] = SumLanes(d);
}
inline Vec SwapPairs(Vec x) { return {Vec::Four{x.v[1], x.v[0], x.v[3], x.v[2]}}; }
inline float MaxLanes(Vec x) {
  const float even = x.v[0] > x.v[2] ? x.v[0] : x.v[2];
  const float odd = x.v[1] > x.v[3] ? x.v[1] : x.v[3];
  return even > odd ? even : odd;
}

}  // namespace
}  // namespace lathe

#endif  // defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#endif  // LATHE_KERNEL_SIMD_VECTOR_PORTABLE_H_
