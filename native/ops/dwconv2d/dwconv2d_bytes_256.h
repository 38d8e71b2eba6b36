// Vectors of 32 bytes for kernels of channels side by side, without what depends on how bytes are multiplied.
#ifndef LATHE_OPS_DWCONV2D_BYTES_256_H_
#define LATHE_OPS_DWCONV2D_BYTES_256_H_

#include <immintrin.h>

#include "native/ops/dwconv2d/dwconv2d_bytes.h"

namespace lathe {
namespace {

struct Bytes256 {
  using Bytes = __m256i;
  static constexpr int kChannels = 32;
  static Bytes Load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static Bytes LoadPart(const int8_t* from, int64_t) { return Load(from); }
  static Bytes Fill(int8_t x) { return _mm256_set1_epi8(x); }
  static Bytes Low8(Bytes a, Bytes b) { return _mm256_unpacklo_epi8(a, b); }
  static Bytes High8(Bytes a, Bytes b) { return _mm256_unpackhi_epi8(a, b); }
  static Bytes Low16(Bytes a, Bytes b) { return _mm256_unpacklo_epi16(a, b); }
  static Bytes High16(Bytes a, Bytes b) { return _mm256_unpackhi_epi16(a, b); }
  static Bytes Scaled(Bytes sum, const float* factors, float high) {
    const __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(factors));
    return _mm256_cvtps_epi32(_mm256_min_ps(value, _mm256_set1_ps(high)));
  }
  static Bytes Pack(const Bytes (&sums)[kQuarters], int zero, int8_t low, int8_t) {
    const Bytes zeros = _mm256_set1_epi16(static_cast<int16_t>(zero));
    const Bytes first = _mm256_adds_epi16(_mm256_packs_epi32(sums[0], sums[1]), zeros);
    const Bytes second = _mm256_adds_epi16(_mm256_packs_epi32(sums[2], sums[3]), zeros);
    return _mm256_max_epi8(_mm256_packs_epi16(first, second), Fill(low));
  }
  static void Store(int8_t* to, Bytes x, int64_t) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_DWCONV2D_BYTES_256_H_
