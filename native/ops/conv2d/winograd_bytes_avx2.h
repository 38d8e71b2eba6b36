// Filters of bytes for conv2d_s8_winograd2.cc, transformed from panels of byte_state.h.
#ifndef LATHE_OPS_CONV2D_WINOGRAD_BYTES_AVX2_H_
#define LATHE_OPS_CONV2D_WINOGRAD_BYTES_AVX2_H_

#include "native/kernel/gemm/byte_state.h"
#include "native/kernel/simd/words.h"

namespace lathe {
namespace {

// Numbers of eight outputs, [8][4 of depth] in two vectors, become [2 pairs of depth][8][2].
inline void StorePairs(Words a, Words b, int16_t* first, int16_t* second) {
  const __m256 low = _mm256_castsi256_ps(a.v), high = _mm256_castsi256_ps(b.v);
  const __m256i even = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88));
  const __m256i odd = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
  Store(first, {_mm256_permute4x64_epi64(even, 0xd8)});
  Store(second, {_mm256_permute4x64_epi64(odd, 0xd8)});
}

// 2G along one axis.
inline void TransformTaps(const Words (&x)[3], Words (&y)[4]) {
  const Words ends = Add(x[0], x[2]);
  y[0] = Add(x[0], x[0]);
  y[1] = Add(ends, x[1]);
  y[2] = Sub(ends, x[1]);
  y[3] = Add(x[2], x[2]);
}

// `taps` are the filters of 16 outputs and 4 of depth at the first tap, `step` bytes from one to the next. Writes
// [16 points][2 pairs of depth][16 outputs][2], `point_numbers` from point to point.
inline void TransformFilters(const int8_t* taps, int64_t step, int64_t point_numbers, int16_t* to) {
  for (int half = 0; half < 2; ++half, taps += 2 * kWords, to += 2 * kSums) {
    Words points[2][4][4];
    for (int part = 0; part < 2; ++part) {
      Words lines[4][3];
      for (int j = 0; j < 3; ++j) {
        Words x[3], y[4];
        for (int i = 0; i < 3; ++i) x[i] = LoadBytes(taps + (i * 3 + j) * step + part * kWords);
        TransformTaps(x, y);
        for (int i = 0; i < 4; ++i) lines[i][j] = y[i];
      }
      for (int i = 0; i < 4; ++i) TransformTaps(lines[i], points[part][i]);
    }
    int16_t* target = to;
    for (int point = 0; point < 16; ++point, target += point_numbers) {
      StorePairs(points[0][point / 4][point % 4], points[1][point / 4][point % 4], target, target + 2 * kBytePanel);
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_WINOGRAD_BYTES_AVX2_H_
