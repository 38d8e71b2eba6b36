// Rows that are resized: included by rows_unit.h.
#ifndef LATHE_VISION_ROWS_RESIZE_H_
#define LATHE_VISION_ROWS_RESIZE_H_

#include "native/vision/rows.h"
#include "native/vision/words.h"

namespace lathe {
namespace vision {
namespace {

inline int16_t Between(int left, int right, int weight) {
  return static_cast<int16_t>((left << 7) + ((((right - left) * 128) * weight + 16384) >> 15));
}

// One pixel of a row after the other, from the column `i` on.
void AcrossFrom(size_t i, const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target) {
  for (; i < columns.count; ++i) {
    const uint8_t* left = source + columns.offsets[i];
    for (int c = 0; c < channels; ++c) {
      target[i * channels + c] = Between(left[c], left[c + step], columns.weights[i]);
    }
  }
}

#if defined(__AVX2__)

inline __m128i Eight(const uint8_t* from) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)); }

inline __m256i Blend(__m256i left, __m256i right, __m256i weights) {
  const __m256i base = _mm256_slli_epi16(left, 7);
  return _mm256_add_epi16(base, _mm256_mulhrs_epi16(_mm256_sub_epi16(_mm256_slli_epi16(right, 7), base), weights));
}

// Four pixels of 3 or 4 bytes, of which 3 or 4 words each are stored.
template <int channels>
size_t AcrossPixels(const uint8_t* source, const Columns& columns, int16_t* target) {
  const char n = -1;
  const __m256i lefts =
      _mm256_broadcastsi128_si256(channels == 3 ? _mm_setr_epi8(0, n, 1, n, 2, n, 8, n, 9, n, 10, n, n, n, n, n)
                                                : _mm_setr_epi8(0, n, 1, n, 2, n, 3, n, 8, n, 9, n, 10, n, 11, n));
  const __m256i rights =
      _mm256_broadcastsi128_si256(channels == 3 ? _mm_setr_epi8(3, n, 4, n, 5, n, 11, n, 12, n, 13, n, n, n, n, n)
                                                : _mm_setr_epi8(4, n, 5, n, 6, n, 7, n, 12, n, 13, n, 14, n, 15, n));
  const __m256i spread = channels == 3 ? _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, n, n, n, n, 4, 5, 4, 5, 4,
                                                          5, 6, 7, 6, 7, 6, 7, n, n, n, n)
                                       : _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3, 4, 5, 4, 5, 4,
                                                          5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7);
  size_t i = 0;
  // Two more words than are wanted are stored: the next columns write them again.
  for (; i + 5 <= columns.safe; i += 4) {
    const int32_t* at = columns.offsets + i;
    const __m128i ab = _mm_unpacklo_epi64(Eight(source + at[0]), Eight(source + at[1]));
    const __m128i cd = _mm_unpacklo_epi64(Eight(source + at[2]), Eight(source + at[3]));
    const __m256i pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(ab), cd, 1);
    const __m128i four = Eight(reinterpret_cast<const uint8_t*>(columns.weights + i));
    const __m256i weights = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), spread);
    const __m256i made = Blend(_mm256_shuffle_epi8(pixels, lefts), _mm256_shuffle_epi8(pixels, rights), weights);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i * channels), _mm256_castsi256_si128(made));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + (i + 2) * channels), _mm256_extracti128_si256(made, 1));
  }
  return i;
}

inline __m256i Gathered(const uint8_t* source, const int32_t* offsets) {
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets));
  return _mm256_i32gather_epi32(reinterpret_cast<const int*>(source), at, 1);
}

// Eight pixels of 1 byte, or of 2: the four bytes from the left pixel on are gathered.
template <int channels>
size_t AcrossBytes(const uint8_t* source, const Columns& columns, size_t step, int16_t* target) {
  const __m256i low = _mm256_set1_epi32(0xff);
  size_t i = 0;
  for (; i + 16 <= columns.safe && channels == 1; i += 16) {
    const __m256i a = Gathered(source, columns.offsets + i), b = Gathered(source, columns.offsets + i + 8);
    const __m128i by = _mm_cvtsi32_si128(static_cast<int>(step * 8));
    const __m256i left = _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
    const __m256i right = _mm256_packus_epi32(_mm256_and_si256(_mm256_srl_epi32(a, by), low),
                                              _mm256_and_si256(_mm256_srl_epi32(b, by), low));
    const __m256i weights = _mm256_permute4x64_epi64(LoadHalf(columns.weights + i), 0xd8);
    StoreHalf(target + i, _mm256_permute4x64_epi64(Blend(left, right, weights), 0xd8));
  }
  for (; i + 8 <= columns.safe && channels == 2; i += 8) {
    const __m256i a = Gathered(source, columns.offsets + i);  // u v u' v'
    const char n = -1;
    const __m256i left = _mm256_shuffle_epi8(
        a, _mm256_broadcastsi128_si256(_mm_setr_epi8(0, n, 1, n, 4, n, 5, n, 8, n, 9, n, 12, n, 13, n)));
    const __m256i right = _mm256_shuffle_epi8(
        a, _mm256_broadcastsi128_si256(_mm_setr_epi8(2, n, 3, n, 6, n, 7, n, 10, n, 11, n, 14, n, 15, n)));
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns.weights + i));
    const __m256i weights = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi16(eight, eight)),
                                                    _mm_unpackhi_epi16(eight, eight), 1);
    StoreHalf(target + i * 2, Blend(left, right, weights));
  }
  return i;
}

void Across(const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target) {
  size_t done = 0;
  if (channels == 1 && step <= 2) done = AcrossBytes<1>(source, columns, step, target);
  if (channels == 2 && step == 2) done = AcrossBytes<2>(source, columns, step, target);
  if (channels == 3 && step == 3) done = AcrossPixels<3>(source, columns, target);
  if (channels == 4 && step == 4) done = AcrossPixels<4>(source, columns, target);
  AcrossFrom(done, source, columns, channels, step, target);
}

#elif defined(__ARM_NEON)

inline int16x8_t Blend(uint8x8_t left, uint8x8_t right, int16x8_t weights) {
  const int16x8_t base = vreinterpretq_s16_u16(vshll_n_u8(left, 7));
  const int16x8_t difference = vsubq_s16(vreinterpretq_s16_u16(vshll_n_u8(right, 7)), base);
  return vaddq_s16(base, vqrdmulhq_s16(difference, weights));
}

inline uint32_t Four(const uint8_t* from) {
  uint32_t x;
  memcpy(&x, from, 4);
  return x;
}

// Pixels of 1 byte: 8 pairs of neighbours.
size_t AcrossBytes(const uint8_t* source, const Columns& columns, int16_t* target) {
  size_t i = 0;
  for (; i + 8 <= columns.safe; i += 8) {
    const int32_t* at = columns.offsets + i;
    uint16x8_t pairs = vdupq_n_u16(0);
    const auto pair = [&](int k) { return reinterpret_cast<const uint16_t*>(source + at[k]); };
    pairs = vld1q_lane_u16(pair(0), pairs, 0);
    pairs = vld1q_lane_u16(pair(1), pairs, 1);
    pairs = vld1q_lane_u16(pair(2), pairs, 2);
    pairs = vld1q_lane_u16(pair(3), pairs, 3);
    pairs = vld1q_lane_u16(pair(4), pairs, 4);
    pairs = vld1q_lane_u16(pair(5), pairs, 5);
    pairs = vld1q_lane_u16(pair(6), pairs, 6);
    pairs = vld1q_lane_u16(pair(7), pairs, 7);
    vst1q_s16(target + i, Blend(vmovn_u16(pairs), vshrn_n_u16(pairs, 8), vld1q_s16(columns.weights + i)));
  }
  return i;
}

// Pixels of 2 bytes: 4 times four bytes.
size_t AcrossPairs(const uint8_t* source, const Columns& columns, int16_t* target) {
  size_t i = 0;
  for (; i + 4 <= columns.safe; i += 4) {
    const int32_t* at = columns.offsets + i;
    const uint16x4_t ab =
        vreinterpret_u16_u32(vset_lane_u32(Four(source + at[1]), vdup_n_u32(Four(source + at[0])), 1));
    const uint16x4_t cd =
        vreinterpret_u16_u32(vset_lane_u32(Four(source + at[3]), vdup_n_u32(Four(source + at[2])), 1));
    const uint16x4x2_t apart = vuzp_u16(ab, cd);  // left pixels, right pixels
    const int16x4_t four = vld1_s16(columns.weights + i);
    const int16x4x2_t weights = vzip_s16(four, four);
    vst1q_s16(target + i * 2, Blend(vreinterpret_u8_u16(apart.val[0]), vreinterpret_u8_u16(apart.val[1]),
                                    vcombine_s16(weights.val[0], weights.val[1])));
  }
  return i;
}

// One pixel of 3 or 4 bytes: two to a vector.
template <int channels>
size_t AcrossPixels(const uint8_t* source, const Columns& columns, int16_t* target) {
  size_t i = 0;
  for (; i + 3 <= columns.safe; i += 2) {
    const uint8x8_t a = vld1_u8(source + columns.offsets[i]), b = vld1_u8(source + columns.offsets[i + 1]);
    const auto low = [](uint8x8_t x, uint8x8_t y) {
      return vreinterpret_u8_u32(vzip_u32(vreinterpret_u32_u8(x), vreinterpret_u32_u8(y)).val[0]);
    };
    const uint8x8_t left = low(a, b), right = low(vext_u8(a, a, channels), vext_u8(b, b, channels));
    const int16x8_t weights = vcombine_s16(vdup_n_s16(columns.weights[i]), vdup_n_s16(columns.weights[i + 1]));
    const int16x8_t made = Blend(left, right, weights);
    vst1_s16(target + i * channels, vget_low_s16(made));
    vst1_s16(target + (i + 1) * channels, vget_high_s16(made));
  }
  return i;
}

void Across(const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target) {
  size_t done = 0;
  if (channels == 1 && step == 1) done = AcrossBytes(source, columns, target);
  if (channels == 2 && step == 2) done = AcrossPairs(source, columns, target);
  if (channels == 3 && step == 3) done = AcrossPixels<3>(source, columns, target);
  if (channels == 4 && step == 4) done = AcrossPixels<4>(source, columns, target);
  AcrossFrom(done, source, columns, channels, step, target);
}

#else

void Across(const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target) {
  AcrossFrom(0, source, columns, channels, step, target);
}

#endif

// weight(i) for vectors, and single(i) for elements.
template <typename Weight, typename Single>
inline void BetweenRows(const int16_t* first, const int16_t* second, size_t count, [[maybe_unused]] Weight weight,
                        Single single, uint8_t* target) {
  size_t i = 0;
#if defined(LATHE_VISION_BYTES)
  const HalfWords half = FillHalf(64);
  const auto made = [&](size_t at) {
    const HalfWords a = LoadHalf(first + at), b = LoadHalf(second + at);
    return Right<7>(AddHalf(AddHalf(a, MulRound15(SubHalf(b, a), weight(at))), half));
  };
  for (; i + kBytes <= count; i += kBytes) StoreVector(target + i, Joined(made(i), made(i + kBytes / 2)));
#endif
  for (; i < count; ++i) {
    target[i] = static_cast<uint8_t>((first[i] + (((second[i] - first[i]) * single(i) + 16384) >> 15) + 64) >> 7);
  }
}

#if !defined(LATHE_VISION_BYTES)
inline int FillHalf(int x) { return x; }
inline int LoadHalf(const int16_t* from) { return *from; }
#endif

void Down(const int16_t* first, const int16_t* second, int weight, size_t count, uint8_t* target) {
  const auto by = FillHalf(weight);
  BetweenRows(first, second, count, [&](size_t) { return by; }, [&](size_t) { return weight; }, target);
}

void Blended(const int16_t* first, const int16_t* second, const int16_t* weights, size_t count, uint8_t* target) {
  BetweenRows(
      first, second, count, [&](size_t i) { return LoadHalf(weights + i); }, [&](size_t i) { return weights[i]; },
      target);
}

void SumOfRows(const WeightedRows& rows, size_t count, float* sums) {
  const Floats first = FillFloats(rows.weights[0]), middle = FillFloats(rows.weights[1]);
  const Floats last = FillFloats(rows.weights[2]), zero = FillFloats(0);
  size_t i = 0;
  for (; i + 8 <= count; i += kFloats) {
    const uint8_t* source = rows.source + i;
    Floats sum = MulAdd(FloatsOf(source), first, zero);
    for (size_t row = 2; row < rows.count; ++row) sum = MulAdd(FloatsOf(source += rows.stride), middle, sum);
    if (rows.count > 1) sum = MulAdd(FloatsOf(source + rows.stride), last, sum);
    StoreFloats(sums + i, sum);
  }
  for (; i < count; ++i) {
    const uint8_t* source = rows.source + i;
    float sum = static_cast<float>(*source) * rows.weights[0];
    for (size_t row = 1; row < rows.count; ++row) {
      source += rows.stride;
      sum += static_cast<float>(*source) * rows.weights[row + 1 < rows.count ? 1 : 2];
    }
    sums[i] = sum;
  }
}

void SumOfColumns(const float* sums, const CoveringColumns& columns, size_t count, size_t step, size_t channels,
                  uint8_t* target) {
  for (size_t i = 0; i < count; ++i, target += channels) {
    const float* from = sums + static_cast<size_t>(columns.lows[i] - columns.lows[0]) * step;
    Quad total = MulQuad(LoadQuad(from), columns.shares[0][i]);
    int inner = columns.highs[i] - columns.lows[i] - 1;
    if (inner >= 0) {
      for (; inner > 0; --inner) total = MulAddQuad(LoadQuad(from += step), columns.shares[1][i], total);
      total = MulAddQuad(LoadQuad(from + step), columns.shares[2][i], total);
    }
    const uint32_t bytes = BytesOf(total, kAreaHalf);
    // What is beyond the pixel, the next ones write again.
    if ((count - i) * channels >= 4) {
      memcpy(target, &bytes, 4);
    } else {
      for (size_t c = 0; c < channels; ++c) target[c] = static_cast<uint8_t>(bytes >> (8 * c));
    }
  }
}

}  // namespace
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_RESIZE_H_
