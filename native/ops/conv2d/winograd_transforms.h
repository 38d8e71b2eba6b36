// Winograd's minimal filtering along one axis: LATHE_WINOGRAD_TILE outputs (2 or 4) from as many inputs and two more.
// With LATHE_WINOGRAD_STRIDE 2, where the tile is 4, three more: filters have four taps.
#ifndef LATHE_OPS_CONV2D_WINOGRAD_TRANSFORMS_H_
#define LATHE_OPS_CONV2D_WINOGRAD_TRANSFORMS_H_

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

#if !defined(LATHE_WINOGRAD_STRIDE)
#define LATHE_WINOGRAD_STRIDE 1
#endif

constexpr int kStride = LATHE_WINOGRAD_STRIDE;
constexpr int kTaps = kStride == 1 ? 3 : 4;
constexpr int kTile = LATHE_WINOGRAD_TILE;  // outputs per axis
constexpr int kPatch = kTile + kTaps - 1;   // inputs per axis
constexpr int kPoints = kPatch * kPatch;

// Filters and inputs are polynomials, which are multiplied at 0, at +-1 and +-2 where the tile is large, at -1/2 where
// there are four taps, and at infinity. Halves would lose too much by powers of 2: they have +-sqrt(1/2) and +-sqrt(2),
// which lose less than half as much.
constexpr bool kHasRoots = kTile == 4 && sizeof(Element) == 2;
constexpr float kRootOfHalf = 0.70710678f, kRootOfTwo = 1.41421356f;

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
// c - a * b
#if defined(LATHE_HALVES)
inline Vec MulSub(Vec a, Vec b, Vec c) { return {vfmsq_f16(c.v, a.v, b.v)}; }
#else
inline Vec MulSub(Vec a, Vec b, Vec c) { return {vfmsq_f32(c.v, a.v, b.v)}; }
#endif
#endif

// The transformation of inputs along one axis, from x to y.
inline void TransformIn(const Vec (&x)[kPatch], Vec (&y)[kPatch]) {
  if constexpr (kTile == 2) {
    y[0] = Sub(x[0], x[2]);
    y[1] = Add(x[1], x[2]);
    y[2] = Sub(x[2], x[1]);
    y[3] = Sub(x[1], x[3]);
  } else if constexpr (kTaps == 4) {
    const Vec half = Fill(0.5f), two = Fill(2.0f), minus_two = Fill(-2.0f), minus_four = Fill(-4.0f);
    Vec a[5], b[3];  // times x^2 - 4, times x^2 - 1
#pragma GCC unroll 8
    for (int i = 0; i < 5; ++i) a[i] = MulAdd(minus_four, x[i], x[i + 2]);
#pragma GCC unroll 8
    for (int i = 0; i < 3; ++i) b[i] = Sub(x[i + 3], x[i + 1]);
    const Vec c = MulAdd(half, a[2], a[3]), d = MulAdd(half, a[1], a[2]);
    const Vec e = MulAdd(half, b[1], b[2]), f = MulAdd(half, b[0], b[1]);
    y[1] = Add(c, d);
    y[2] = Sub(c, d);
    y[3] = MulAdd(two, f, e);
    y[4] = MulAdd(minus_two, f, e);
    y[5] = Sub(a[3], a[1]);
    y[0] = MulAdd(half, Sub(a[2], a[0]), y[5]);
    y[6] = MulAdd(half, y[5], Sub(a[4], a[2]));
  } else if constexpr (kHasRoots) {
    const Vec minus_half = Fill(-0.5f), minus_two = Fill(-2.0f), minus_both = Fill(-2.5f);
    const Vec a = MulAdd(minus_two, x[2], x[4]), b = MulAdd(minus_two, x[1], x[3]);
    const Vec c = MulAdd(minus_half, x[2], x[4]), d = MulAdd(minus_half, x[1], x[3]);
    y[0] = MulAdd(minus_both, x[2], Add(x[0], x[4]));
    y[1] = MulAdd(Fill(kRootOfHalf), b, a);
    y[2] = MulAdd(Fill(-kRootOfHalf), b, a);
    y[3] = MulAdd(Fill(kRootOfTwo), d, c);
    y[4] = MulAdd(Fill(-kRootOfTwo), d, c);
    y[5] = MulAdd(minus_both, x[3], Add(x[1], x[5]));
  } else {
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
    // Fused sums overwrite what they add to: this order copies nothing.
    const Vec four = Fill(4.0f);
    const Vec c = Sub(x[4], x[2]), d = Sub(x[3], x[1]), twice = Add(d, d);
    const Vec a = MulSub(four, x[2], x[4]), b = MulSub(four, x[1], x[3]);
    y[0] = MulAdd(four, x[0], Sub(a, x[2]));
    y[5] = Sub(MulSub(four, x[3], x[5]), b);
    y[1] = Add(a, b);
    y[2] = Sub(a, b);
    y[3] = Add(c, twice);
    y[4] = Sub(c, twice);
#else
    const Vec two = Fill(2.0f), four = Fill(4.0f), minus_four = Fill(-4.0f), minus_five = Fill(-5.0f);
    const Vec a = MulAdd(minus_four, x[2], x[4]);
    const Vec b = MulAdd(minus_four, x[1], x[3]);
    const Vec c = Sub(x[4], x[2]);
    const Vec d = Mul(two, Sub(x[3], x[1]));
    y[0] = MulAdd(four, x[0], MulAdd(minus_five, x[2], x[4]));
    y[1] = Add(a, b);
    y[2] = Sub(a, b);
    y[3] = Add(c, d);
    y[4] = Sub(c, d);
    y[5] = MulAdd(four, x[1], MulAdd(minus_five, x[3], x[5]));
#endif
  }
}

// The way back.
inline void TransformOut(const Vec (&x)[kPatch], Vec (&y)[kTile]) {
  if constexpr (kTile == 2) {
    y[0] = Add(Add(x[0], x[1]), x[2]);
    y[1] = Sub(Sub(x[1], x[2]), x[3]);
  } else if constexpr (kTaps == 4) {
    const Vec a = Add(x[1], x[2]), b = Sub(x[1], x[2]), c = Add(x[3], x[4]), d = Sub(x[3], x[4]);
    y[0] = Add(Add(x[0], a), Add(c, x[5]));
    y[1] = MulAdd(Fill(-0.5f), x[5], MulAdd(Fill(2.0f), d, b));
    y[2] = MulAdd(Fill(0.25f), x[5], MulAdd(Fill(4.0f), c, a));
    y[3] = MulAdd(Fill(-0.125f), x[5], MulAdd(Fill(8.0f), d, Add(b, x[6])));
  } else if constexpr (kHasRoots) {
    const Vec a = Add(x[1], x[2]), b = Sub(x[1], x[2]), c = Add(x[3], x[4]), d = Sub(x[3], x[4]);
    y[0] = Add(Add(x[0], a), c);
    y[1] = MulAdd(Fill(kRootOfTwo), d, Mul(Fill(kRootOfHalf), b));
    y[2] = MulAdd(Fill(2.0f), c, Mul(Fill(0.5f), a));
    y[3] = MulAdd(Fill(2.0f * kRootOfTwo), d, MulAdd(Fill(0.5f * kRootOfHalf), b, x[5]));
  } else {
    const Vec a = Add(x[1], x[2]), b = Sub(x[1], x[2]), c = Add(x[3], x[4]), d = Sub(x[3], x[4]);
    y[0] = Add(Add(x[0], a), c);
    y[1] = MulAdd(Fill(2.0f), d, b);
    y[2] = MulAdd(Fill(4.0f), c, a);
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
    y[3] = MulAdd(Fill(8.0f), d, Add(b, x[5]));
#else
    y[3] = Add(MulAdd(Fill(8.0f), d, b), x[5]);
#endif
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_WINOGRAD_TRANSFORMS_H_
