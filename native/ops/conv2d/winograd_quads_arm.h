// Winograd's transformations on ARM: inputs of four tiles at a time, which are stored in the order in which the tiles
// of products read them, and outputs of a tile that stays in registers.
#ifndef LATHE_OPS_CONV2D_WINOGRAD_QUADS_ARM_H_
#define LATHE_OPS_CONV2D_WINOGRAD_QUADS_ARM_H_

#include "native/kernel/simd/load_step_arm.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/conv2d/winograd_transforms.h"

namespace lathe {
namespace {

// The pixels that one tile reads.
struct QuadTile {
  const Element* lines[kPatch];  // the first pixel inside of the image; zeros where the line is outside
  int64_t bytes[kPatch];         // from pixel to pixel: 0 for zeros
  int first;                     // columns [first, end) are inside of the image
  int end;
};

// One tile along its columns: half[column][kPatch].
inline void TransformColumns(const QuadTile& tile, int64_t channel, Vec* half) {
  const Element* from[kPatch];
  int64_t bytes[kPatch];
#pragma GCC unroll 8
  for (int i = 0; i < kPatch; ++i) {
    from[i] = tile.lines[i] + channel;
    bytes[i] = tile.bytes[i];
  }
  const Vec zero = Fill(0.0f);
  Vec* const first = half + tile.first * kPatch;
  Vec* const end = half + tile.end * kPatch;
  Vec* const last = half + kPoints;
  while (half < first) *half++ = zero;
  for (; half < end; half += kPatch) {
    Vec x[kPatch], y[kPatch];
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i) LoadAndStep(from[i], bytes[i], &x[i]);
    TransformIn(x, y);
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i) half[i] = y[i];
  }
  while (half < last) *half++ = zero;
}

#if defined(__aarch64__) && LATHE_WINOGRAD_STRIDE == 1
#if defined(LATHE_HALVES)
#define LATHE_STORE_QUAD(a, b) "st4 {v" #a ".8h-v" #b ".8h}, [%0], %1\n"
using Register = float16x8_t;
#else
#define LATHE_STORE_QUAD(a, b) "st4 {v" #a ".4s-v" #b ".4s}, [%0], %1\n"
using Register = float32x4_t;
#endif

// Row i of tile t, whose results go to every fourth register from t on.
#define LATHE_TRANSFORM_ROW(t)                                                                       \
  Vec x##t[kPatch], y##t[kPatch];                                                                    \
  _Pragma("GCC unroll 8") for (int j = 0; j < kPatch; ++j) x##t[j] = from[t * kPoints + j * kPatch]; \
  TransformIn(x##t, y##t);

// Four tiles along their rows, from half[tile][column][kPatch] to kPoints blocks of kLanes channels of four tiles,
// `bytes` apart. Compilers copy what they are to store with st4; so registers are named here.
inline void TransformQuadRows(const Vec* from, Element* to, int64_t bytes) {
  for (int i = 0; i < kPatch; ++i, ++from) {
    register Register r0 asm("v0"), r1 asm("v1"), r2 asm("v2"), r3 asm("v3");
    register Register r4 asm("v4"), r5 asm("v5"), r6 asm("v6"), r7 asm("v7");
    register Register r8 asm("v8"), r9 asm("v9"), r10 asm("v10"), r11 asm("v11");
    register Register r12 asm("v12"), r13 asm("v13"), r14 asm("v14"), r15 asm("v15");
#if LATHE_WINOGRAD_TILE == 2
#define LATHE_KEEP_ROW(t, a, b, c, d) r##a = y##t[0].v, r##b = y##t[1].v, r##c = y##t[2].v, r##d = y##t[3].v
    LATHE_TRANSFORM_ROW(0) LATHE_KEEP_ROW(0, 0, 4, 8, 12);
    LATHE_TRANSFORM_ROW(1) LATHE_KEEP_ROW(1, 1, 5, 9, 13);
    LATHE_TRANSFORM_ROW(2) LATHE_KEEP_ROW(2, 2, 6, 10, 14);
    LATHE_TRANSFORM_ROW(3) LATHE_KEEP_ROW(3, 3, 7, 11, 15);
    asm volatile(LATHE_STORE_QUAD(0, 3) LATHE_STORE_QUAD(4, 7) LATHE_STORE_QUAD(8, 11) LATHE_STORE_QUAD(12, 15)
                 : "+r"(to)
                 : "r"(bytes), "w"(r0), "w"(r1), "w"(r2), "w"(r3), "w"(r4), "w"(r5), "w"(r6), "w"(r7), "w"(r8), "w"(r9),
                   "w"(r10), "w"(r11), "w"(r12), "w"(r13), "w"(r14), "w"(r15)
                 : "memory");
#else
    register Register r16 asm("v16"), r17 asm("v17"), r18 asm("v18"), r19 asm("v19");
    register Register r20 asm("v20"), r21 asm("v21"), r22 asm("v22"), r23 asm("v23");
#define LATHE_KEEP_ROW(t, a, b, c, d, e, f) \
  r##a = y##t[0].v, r##b = y##t[1].v, r##c = y##t[2].v, r##d = y##t[3].v, r##e = y##t[4].v, r##f = y##t[5].v
    LATHE_TRANSFORM_ROW(0) LATHE_KEEP_ROW(0, 0, 4, 8, 12, 16, 20);
    LATHE_TRANSFORM_ROW(1) LATHE_KEEP_ROW(1, 1, 5, 9, 13, 17, 21);
    LATHE_TRANSFORM_ROW(2) LATHE_KEEP_ROW(2, 2, 6, 10, 14, 18, 22);
    LATHE_TRANSFORM_ROW(3) LATHE_KEEP_ROW(3, 3, 7, 11, 15, 19, 23);
    asm volatile(LATHE_STORE_QUAD(0, 3) LATHE_STORE_QUAD(4, 7) LATHE_STORE_QUAD(8, 11) LATHE_STORE_QUAD(12, 15)
                     LATHE_STORE_QUAD(16, 19) LATHE_STORE_QUAD(20, 23)
                 : "+r"(to)
                 : "r"(bytes), "w"(r0), "w"(r1), "w"(r2), "w"(r3), "w"(r4), "w"(r5), "w"(r6), "w"(r7), "w"(r8), "w"(r9),
                   "w"(r10), "w"(r11), "w"(r12), "w"(r13), "w"(r14), "w"(r15), "w"(r16), "w"(r17), "w"(r18), "w"(r19),
                   "w"(r20), "w"(r21), "w"(r22), "w"(r23)
                 : "memory");
#endif
  }
}
#else
inline void TransformQuadRows(const Vec* from, Element* to, int64_t bytes) {
  for (int i = 0; i < kPatch; ++i, ++from) {
    Vec rows[kPatch][4];
    for (int t = 0; t < 4; ++t) {
      Vec x[kPatch], y[kPatch];
#pragma GCC unroll 8
      for (int j = 0; j < kPatch; ++j) x[j] = from[t * kPoints + j * kPatch];
      TransformIn(x, y);
#pragma GCC unroll 8
      for (int j = 0; j < kPatch; ++j) rows[j][t] = y[j];
    }
#if defined(__aarch64__)
#pragma GCC unroll 8
    for (int j = 0; j < kPatch; ++j, to += bytes / static_cast<int64_t>(sizeof(Element))) {
      const float32x4x4_t row = {{rows[j][0].v, rows[j][1].v, rows[j][2].v, rows[j][3].v}};
      vst4q_f32(to, row);  // a macro of some compilers, which does not take braces
    }
#else
    for (int j = 0; j < kPatch; ++j) {
      Element* const half = to + 8;
      const int32_t step = static_cast<int32_t>(bytes);
      asm volatile(
          "vldmia %2, {d0-d7}\n"
          "vst4.32 {d0, d2, d4, d6}, [%0], %3\n"
          "vst4.32 {d1, d3, d5, d7}, [%1]\n"
          : "+r"(to)
          : "r"(half), "r"(rows[j]), "r"(step)
          : "memory", "q0", "q1", "q2", "q3");
    }
#endif
  }
}
#endif

// The products of a tile from point to point, `line` elements from one line of points to the next, as outputs.
inline void TransformBack(const Element* from, int64_t line, int64_t point, Vec (&out)[kTile][kTile]) {
  Vec half[kPatch][kTile];
#pragma GCC unroll 8
  for (int i = 0; i < kPatch; ++i, from += line) {
    Vec x[kPatch];
#pragma GCC unroll 8
    for (int j = 0; j < kPatch; ++j) x[j] = Load(from + j * point);
    TransformOut(x, half[i]);
  }
#pragma GCC unroll 8
  for (int j = 0; j < kTile; ++j) {
    Vec x[kPatch], y[kTile];
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i) x[i] = half[i][j];
    TransformOut(x, y);
#pragma GCC unroll 8
    for (int i = 0; i < kTile; ++i) out[i][j] = y[i];
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_WINOGRAD_QUADS_ARM_H_
