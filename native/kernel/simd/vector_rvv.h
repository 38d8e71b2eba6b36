// Vectors of eight floats on RISC-V with vectors (version 1.0): two registers of 128 bits each. See vector_portable.h
// for what every such header offers.
//
// These are vectors of the compiler of a fixed size, not those of its intrinsics: Clang sets the length of each
// operation, so that the same code runs, and computes the same, with registers of any length from 128 bits on. The type
// must not be tied to a length (-mrvv-vector-bits), since that of the machine is not known when a library is built.
#ifndef LATHE_KERNEL_SIMD_VECTOR_RVV_H_
#define LATHE_KERNEL_SIMD_VECTOR_RVV_H_

#include <riscv_vector.h>
#include <stdint.h>
#include <string.h>

namespace lathe {
namespace {

using Element = float;

struct Vec {
  typedef float Eight __attribute__((vector_size(32)));
  Eight v;
};

constexpr int kLanes = 8;
constexpr int kVectorRegisters = 16;

inline Vec Load(const float* from) {
  Vec x;
  memcpy(&x.v, from, sizeof x.v);
  return x;
}
inline void Store(float* to, Vec x) { memcpy(to, &x.v, sizeof x.v); }
inline Vec LoadPart(const float* from, int count) {
  if (count == 8) return Load(from);
  float whole[8] = {};
  const size_t length = static_cast<size_t>(count);
  __riscv_vse32_v_f32m2(whole, __riscv_vle32_v_f32m2(from, length), length);
  return Load(whole);
}
inline void StorePart(float* to, Vec x, int count) {
  if (count == 8) return Store(to, x);
  float whole[8];
  Store(whole, x);
  const size_t length = static_cast<size_t>(count);
  __riscv_vse32_v_f32m2(to, __riscv_vle32_v_f32m2(whole, length), length);
}
inline Vec Fill(float x) { return {Vec::Eight{x, x, x, x, x, x, x, x}}; }
inline Vec Add(Vec a, Vec b) { return {a.v + b.v}; }
inline Vec Sub(Vec a, Vec b) { return {a.v - b.v}; }
inline Vec Mul(Vec a, Vec b) { return {a.v * b.v}; }
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {__builtin_elementwise_fma(a.v, b.v, c.v)}; }
inline Vec AtLeast(Vec x, Vec low) { return {x.v < low.v ? low.v : x.v}; }
inline Vec AtMost(Vec x, Vec high) { return {x.v > high.v ? high.v : x.v}; }
inline Vec Div(Vec a, Vec b) { return {a.v / b.v}; }

struct Mask {
  typedef int32_t Eight __attribute__((vector_size(32)));
  Eight v;
};

typedef uint32_t VecBits __attribute__((vector_size(32)));  // integers that wrap around

inline Vec Abs(Vec x) { return {__builtin_elementwise_abs(x.v)}; }
inline Vec WithSign(Vec size, Vec sign) { return {__builtin_elementwise_copysign(size.v, sign.v)}; }
inline Vec WithExponent(Vec x) { return {(Vec::Eight)((VecBits)x.v << 23)}; }
inline Vec TimesPowerOfTwo(Vec x, Vec n) {
  const VecBits whole = (VecBits)(n.v + 12582912.0f) - 0x4b400000u;
  const VecBits half = (VecBits)((Mask::Eight)whole >> 1);
  return {x.v * (Vec::Eight)((half + 127) << 23) * (Vec::Eight)((whole - half + 127) << 23)};
}
inline Mask Less(Vec a, Vec b) { return {a.v < b.v}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {mask.v ? a.v : b.v}; }
inline Vec Larger(Vec a, Vec b) { return {((a.v < b.v) | (b.v != b.v)) ? b.v : a.v}; }
inline Vec Smaller(Vec a, Vec b) { return {((b.v < a.v) | (b.v != b.v)) ? b.v : a.v}; }
inline Vec Part(Vec x, int count) {
  const Mask::Eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  return {(Vec::Eight)((Mask::Eight)x.v & (lanes < count))};
}

typedef float VecHalf __attribute__((vector_size(16)));

inline VecHalf LowHalf(Vec x) { return __builtin_shufflevector(x.v, x.v, 0, 1, 2, 3); }
inline VecHalf HighHalf(Vec x) { return __builtin_shufflevector(x.v, x.v, 4, 5, 6, 7); }
inline float SumLanes(Vec x) {
  const VecHalf four = LowHalf(x) + HighHalf(x);
  return (four[0] + four[2]) + (four[1] + four[3]);
}
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
  to[0] = SumLanes(a);
  to[1] = SumLanes(b);
  to[2] = SumLanes(c);
  to[3] = SumLanes(d);
}
inline Vec SwapPairs(Vec x) { return {__builtin_shufflevector(x.v, x.v, 1, 0, 3, 2, 5, 4, 7, 6)}; }
inline float MaxLanes(Vec x) {
  const VecHalf low = LowHalf(x), high = HighHalf(x);
  const VecHalf four = low > high ? low : high;
  const float even = four[0] > four[2] ? four[0] : four[2];
  const float odd = four[1] > four[3] ? four[1] : four[3];
  return even > odd ? even : odd;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_RVV_H_
