/* For x86-64 processors with AVX2. The functions say so themselves: flags of the compiler need not. */
#include "vectors.h"

#if !defined(LATHE_KPU_PORTABLE) && defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

static void interleave(uint8_t* to, const uint8_t* even, const uint8_t* odd, uint32_t count) {
  uint32_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i a = _mm_loadu_si128((const __m128i*)(const void*)(even + i));
    const __m128i b = _mm_loadu_si128((const __m128i*)(const void*)(odd + i));
    _mm_storeu_si128((__m128i*)(void*)(to + 2 * (size_t)i), _mm_unpacklo_epi8(a, b));
    _mm_storeu_si128((__m128i*)(void*)(to + 2 * (size_t)i + 16), _mm_unpackhi_epi8(a, b));
  }
  for (; i < count; ++i) {
    to[2 * (size_t)i] = even[i];
    to[2 * (size_t)i + 1] = odd[i];
  }
}

AVX2 static inline __m256i eight_pairs(const uint8_t* from) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i*)(const void*)from));
}

AVX2 static void multiply(const kpu_products* products, uint32_t* sums, uint32_t stride) {
  for (uint32_t p = 0; p < products->pixels; p += KPU_STEP) {
    __m256i total[KPU_TOGETHER][2];
    for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
      const __m256i* from = (const __m256i*)(const void*)(sums + (size_t)lane * stride + p);
      total[lane][0] = _mm256_loadu_si256(from);
      total[lane][1] = _mm256_loadu_si256(from + 1);
    }
    const uint32_t* weights = products->weights;
    const uint8_t* in = products->tile + 2 * (size_t)p;
    for (uint32_t pair = 0; pair < products->pairs; ++pair, in += products->pair_bytes) {
      for (uint32_t tap = 0; tap < products->taps; ++tap, weights += KPU_TOGETHER) {
        const uint8_t* at = in + 2 * (size_t)products->offsets[tap];
        const __m256i x0 = eight_pairs(at), x1 = eight_pairs(at + 16);
        for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
          const __m256i w = _mm256_set1_epi32((int)weights[lane]);
          total[lane][0] = _mm256_add_epi32(total[lane][0], _mm256_madd_epi16(x0, w));
          total[lane][1] = _mm256_add_epi32(total[lane][1], _mm256_madd_epi16(x1, w));
        }
      }
    }
    for (uint32_t lane = 0; lane < KPU_TOGETHER; ++lane) {
      __m256i* to = (__m256i*)(void*)(sums + (size_t)lane * stride + p);
      _mm256_storeu_si256(to, total[lane][0]);
      _mm256_storeu_si256(to + 1, total[lane][1]);
    }
  }
}

AVX2 static inline __m256i both(__m128i a, __m128i b, uint32_t high) {
  return _mm256_cvtepu8_epi16(high != 0 ? _mm_unpackhi_epi8(a, b) : _mm_unpacklo_epi8(a, b));
}

AVX2 static inline __m256i weight_pair(const int16_t* weights, uint32_t first, uint32_t second) {
  return _mm256_set1_epi32((int)((uint32_t)(uint16_t)weights[first] | (uint32_t)(uint16_t)weights[second] << 16));
}

AVX2 static void add_window(uint32_t* sums, const uint8_t* in, uint32_t stride, const int16_t* weights,
                            uint32_t pixels) {
  /* Two taps at a time: the first two of each row, then the last of two rows. */
  const __m256i of_rows[3] = {weight_pair(weights, 0, 1), weight_pair(weights, 3, 4), weight_pair(weights, 6, 7)};
  const __m256i of_column = weight_pair(weights, 2, 5), last = _mm256_set1_epi32((uint16_t)weights[8]);
  for (uint32_t p = 0; p < pixels; p += KPU_STEP, in += KPU_STEP) {
    __m128i x[3][3];
    for (uint32_t i = 0; i < 9; ++i) {
      x[i / 3][i % 3] = _mm_loadu_si128((const __m128i*)(const void*)(in + (size_t)(i / 3) * stride + i % 3));
    }
    for (uint32_t half = 0; half < 2; ++half) {
      __m256i* to = (__m256i*)(void*)(sums + p + 8 * (size_t)half);
      __m256i total = _mm256_loadu_si256(to);
      for (uint32_t row = 0; row < 3; ++row) {
        total = _mm256_add_epi32(total, _mm256_madd_epi16(both(x[row][0], x[row][1], half), of_rows[row]));
      }
      total = _mm256_add_epi32(total, _mm256_madd_epi16(both(x[0][2], x[1][2], half), of_column));
      total = _mm256_add_epi32(total, _mm256_madd_epi16(both(x[2][2], _mm_setzero_si128(), half), last));
      _mm256_storeu_si256(to, total);
    }
  }
}

/* Four bytes, as whole numbers of 32 bits. */
AVX2 static inline __m128i four(const kpu_finish* lane, uint32_t p) {
  const __m128i sums = _mm_loadu_si128((const __m128i*)(const void*)(lane->sums + p));
  __m256d value = _mm256_add_pd(_mm256_cvtepi32_pd(sums), _mm256_loadu_pd(lane->pixel_terms + p));
  value = _mm256_add_pd(value, _mm256_set1_pd(lane->lane_term));
  value = _mm256_mul_pd(_mm256_mul_pd(value, _mm256_set1_pd(lane->factor)), _mm256_set1_pd(lane->scale));
  value = _mm256_add_pd(_mm256_floor_pd(value), _mm256_set1_pd(lane->addend));
  const kpu_piece* piece = lane->pieces;
  __m256d origin = _mm256_set1_pd(piece->origin);
  __m256d slope = _mm256_set1_pd(piece->slope);
  __m256d bias = _mm256_set1_pd(piece->bias);
  for (uint32_t i = 1; i < lane->piece_count; ++i) {
    ++piece;
    const __m256d is_here = _mm256_cmp_pd(_mm256_set1_pd(piece->start), value, _CMP_LE_OQ);
    origin = _mm256_blendv_pd(origin, _mm256_set1_pd(piece->origin), is_here);
    slope = _mm256_blendv_pd(slope, _mm256_set1_pd(piece->slope), is_here);
    bias = _mm256_blendv_pd(bias, _mm256_set1_pd(piece->bias), is_here);
  }
  value = _mm256_mul_pd(_mm256_sub_pd(value, origin), slope);
  value = _mm256_add_pd(_mm256_floor_pd(_mm256_add_pd(value, _mm256_set1_pd(0.5))), bias);
  value = _mm256_min_pd(_mm256_max_pd(value, _mm256_setzero_pd()), _mm256_set1_pd(255.0));
  return _mm256_cvttpd_epi32(value);
}

AVX2 static void finish(const kpu_finish* lane) {
  for (uint32_t p = 0; p < lane->pixels; p += KPU_STEP) {
    const __m128i low = _mm_packs_epi32(four(lane, p), four(lane, p + 4));
    const __m128i high = _mm_packs_epi32(four(lane, p + 8), four(lane, p + 12));
    _mm_storeu_si128((__m128i*)(void*)(lane->results + p), _mm_packus_epi16(low, high));
  }
}

const kpu_vectors kpu_vectors_avx2 = {interleave, multiply, add_window, finish};

#else

typedef int kpu_no_avx2; /* C wants a file to declare something */

#endif
