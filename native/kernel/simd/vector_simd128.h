// Vectors of four floats, in WebAssembly. See vector_portable.h for what every such header offers.
//
// A minimum or maximum that engines compile to one instruction of x86 is the pseudo one, which compares and chooses.
#ifndef LATHE_KERNEL_SIMD_VECTOR_SIMD128_H_
#define LATHE_KERNEL_SIMD_VECTOR_SIMD128_H_

#include <stdint.h>
#include <wasm_simd128.h>

namespace lathe {
namespace {

using Element = float;

struct Vec {
  v128_t v;
};

constexpr int kLanes = 4;
constexpr int kVectorRegisters = 16;  // those of x86; engines on ARM have 32

inline Vec Load(const float* from) { return {wasm_v128_load(from)}; }
inline Vec LoadPart(const float* from, int count) {
  if (count == 4) return Load(from);
  if (count == 0) return {wasm_f32x4_const_splat(0.0f)};
  if (count == 1) return {wasm_v128_load32_zero(from)};
  const v128_t two = wasm_v128_load64_zero(from);
  return {count == 2 ? two : wasm_v128_load32_lane(from + 2, two, 2)};
}
inline void Store(float* to, Vec x) { wasm_v128_store(to, x.v); }
inline void StorePart(float* to, Vec x, int count) {
  if (count == 4) return Store(to, x);
  if (count == 1) wasm_v128_store32_lane(to, x.v, 0);
  if (count > 1) wasm_v128_store64_lane(to, x.v, 0);
  if (count > 2) wasm_v128_store32_lane(to + 2, x.v, 2);
}
inline Vec Fill(float x) { return {wasm_f32x4_splat(x)}; }
inline Vec Add(Vec a, Vec b) { return {wasm_f32x4_add(a.v, b.v)}; }
inline Vec Sub(Vec a, Vec b) { return {wasm_f32x4_sub(a.v, b.v)}; }
inline Vec Mul(Vec a, Vec b) { return {wasm_f32x4_mul(a.v, b.v)}; }
#if defined(__wasm_relaxed_simd__)
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {wasm_f32x4_relaxed_madd(a.v, b.v, c.v)}; }
#else
inline Vec MulAdd(Vec a, Vec b, Vec c) { return {wasm_f32x4_add(wasm_f32x4_mul(a.v, b.v), c.v)}; }
#endif
inline Vec AtLeast(Vec x, Vec low) { return {wasm_f32x4_pmax(x.v, low.v)}; }
inline Vec AtMost(Vec x, Vec high) { return {wasm_f32x4_pmin(x.v, high.v)}; }
inline Vec Div(Vec a, Vec b) { return {wasm_f32x4_div(a.v, b.v)}; }

struct Mask {
  v128_t v;
};

inline Vec Abs(Vec x) { return {wasm_f32x4_abs(x.v)}; }
inline Vec WithSign(Vec size, Vec sign) {
  return {wasm_v128_or(size.v, wasm_v128_and(sign.v, wasm_i32x4_const_splat(INT32_MIN)))};
}
inline Vec WithExponent(Vec x) { return {wasm_i32x4_shl(x.v, 23)}; }
inline Vec TimesPowerOfTwo(Vec x, Vec n) {
  // Adding 1.5 * 2^23 leaves n in the lowest bits.
  const v128_t magic = wasm_f32x4_const_splat(12582912.0f), bias = wasm_i32x4_const_splat(127);
  const v128_t whole = wasm_i32x4_sub(wasm_f32x4_add(n.v, magic), magic);
  const v128_t half = wasm_i32x4_shr(whole, 1);
  const v128_t first = wasm_i32x4_shl(wasm_i32x4_add(half, bias), 23);
  const v128_t second = wasm_i32x4_shl(wasm_i32x4_add(wasm_i32x4_sub(whole, half), bias), 23);
  return {wasm_f32x4_mul(wasm_f32x4_mul(x.v, first), second)};
}
inline Mask Less(Vec a, Vec b) { return {wasm_f32x4_lt(a.v, b.v)}; }
inline Vec Choose(Mask mask, Vec a, Vec b) { return {wasm_v128_bitselect(a.v, b.v, mask.v)}; }
inline Vec Larger(Vec a, Vec b) { return {wasm_f32x4_max(a.v, b.v)}; }
inline Vec Smaller(Vec a, Vec b) { return {wasm_f32x4_min(a.v, b.v)}; }
inline Vec Part(Vec x, int count) {
  const v128_t lanes = wasm_i32x4_const(0, 1, 2, 3);
  return {wasm_v128_and(x.v, wasm_i32x4_lt(lanes, wasm_i32x4_splat(count)))};
}
inline float SumLanes(Vec x) {
  const v128_t two = wasm_f32x4_add(x.v, wasm_i32x4_shuffle(x.v, x.v, 2, 3, 2, 3));
  return wasm_f32x4_extract_lane(two, 0) + wasm_f32x4_extract_lane(two, 1);
}
inline void StoreSums(float* to, Vec a, Vec b, Vec c, Vec d) {
  // Lanes 0 + 2 and 1 + 3 of two vectors, then those of all four.
  const auto two = [](v128_t x, v128_t y) {
    return wasm_f32x4_add(wasm_i32x4_shuffle(x, y, 0, 1, 4, 5), wasm_i32x4_shuffle(x, y, 2, 3, 6, 7));
  };
  const v128_t ab = two(a.v, b.v), cd = two(c.v, d.v);
  wasm_v128_store(to, wasm_f32x4_add(wasm_i32x4_shuffle(ab, cd, 0, 2, 4, 6), wasm_i32x4_shuffle(ab, cd, 1, 3, 5, 7)));
}
inline Vec SwapPairs(Vec x) { return {wasm_i32x4_shuffle(x.v, x.v, 1, 0, 3, 2)}; }
inline float MaxLanes(Vec x) {
  const v128_t two = wasm_f32x4_pmax(x.v, wasm_i32x4_shuffle(x.v, x.v, 2, 3, 2, 3));
  const float a = wasm_f32x4_extract_lane(two, 0), b = wasm_f32x4_extract_lane(two, 1);
  return a > b ? a : b;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_VECTOR_SIMD128_H_
