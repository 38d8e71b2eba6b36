// Filters as a model file stores them, in panels: halves, or integers that a scale multiplies later. LATHE_STORED is
// which of them. They become floats two rows of depth at a time, in vectors of kLanes; the outputs of nibbles are then
// in an order of their own, which InOrder undoes.
#ifndef LATHE_KERNEL_GEMM_STORED_NUMBERS_H_
#define LATHE_KERNEL_GEMM_STORED_NUMBERS_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/runtime/half.h"

#define LATHE_STORED_F16 1
#define LATHE_STORED_BF16 2
#define LATHE_STORED_S8 3
#define LATHE_STORED_S16 4
#define LATHE_STORED_U8 5  // two of 4 bits in a byte

namespace lathe {
namespace {

constexpr int kRowVectorsOfPanel = kPanelWidth / kLanes;
using RowOfPanel = Vec[kRowVectorsOfPanel];

#if LATHE_STORED == LATHE_STORED_U8
constexpr DType kStored = DType::kU8;
constexpr int kStoredBits = 4;
#elif LATHE_STORED == LATHE_STORED_S8
constexpr DType kStored = DType::kS8;
constexpr int kStoredBits = 8;
#else
constexpr DType kStored = LATHE_STORED == LATHE_STORED_F16    ? DType::kF16
                          : LATHE_STORED == LATHE_STORED_BF16 ? DType::kBF16
                                                              : DType::kS16;
constexpr int kStoredBits = 16;
#endif
constexpr bool kStoredHasScales = LATHE_STORED >= LATHE_STORED_S8;
constexpr int64_t kStoredRowBytes = kPanelWidth * kStoredBits / 8;

#if defined(LATHE_ISA_AVX2)
static_assert(kRowVectorsOfPanel == 2, "the orders are for two vectors");

inline __m128i LoadBytes16(const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline Vec EightHalves(const uint8_t* from) { return {_mm256_cvtph_ps(LoadBytes16(from))}; }

#if LATHE_STORED == LATHE_STORED_U8
// Bytes 0 to 7, or 8 to 15, each in the highest byte of a lane: with them, numbers are multiples of 2^28.
inline __m256i HighBytes(__m256i bytes, int first) {
  const __m256i places = _mm256_setr_epi8(-1, -1, -1, 0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, 3,  //
                                          -1, -1, -1, 4, -1, -1, -1, 5, -1, -1, -1, 6, -1, -1, -1, 7);
  return _mm256_shuffle_epi8(bytes, _mm256_add_epi32(places, _mm256_set1_epi32(first << 24)));
}

constexpr float kUnit = 1.0f / (1 << 28);  // what a scale has to be multiplied by

inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  const __m256i both = _mm256_broadcastsi128_si256(LoadBytes16(from));
  const __m256i mask = _mm256_set1_epi32(static_cast<int32_t>(0xf0000000));
  const __m256i one = HighBytes(both, 0), two = HighBytes(both, 8);
  first[0] = {_mm256_cvtepi32_ps(_mm256_slli_epi32(one, 4))};
  first[1] = {_mm256_cvtepi32_ps(_mm256_and_si256(one, mask))};
  second[0] = {_mm256_cvtepi32_ps(_mm256_slli_epi32(two, 4))};
  second[1] = {_mm256_cvtepi32_ps(_mm256_and_si256(two, mask))};
}

// From even outputs and odd ones to all in their order, and back.
inline void InOrder(RowOfPanel& row) {
  const __m256 low = _mm256_unpacklo_ps(row[0].v, row[1].v), high = _mm256_unpackhi_ps(row[0].v, row[1].v);
  row[0] = {_mm256_permute2f128_ps(low, high, 0x20)};
  row[1] = {_mm256_permute2f128_ps(low, high, 0x31)};
}

inline void OutOfOrder(RowOfPanel& row) {
  const __m256 low = _mm256_permute2f128_ps(row[0].v, row[1].v, 0x20);
  const __m256 high = _mm256_permute2f128_ps(row[0].v, row[1].v, 0x31);
  row[0] = {_mm256_shuffle_ps(low, high, 0x88)};
  row[1] = {_mm256_shuffle_ps(low, high, 0xdd)};
}
#else
constexpr float kUnit = 1.0f;

inline Vec EightNumbers(const uint8_t* from) {
#if LATHE_STORED == LATHE_STORED_F16
  return EightHalves(from);
#elif LATHE_STORED == LATHE_STORED_BF16
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(LoadBytes16(from)), 16))};
#elif LATHE_STORED == LATHE_STORED_S8
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))))};
#else
  return {_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(LoadBytes16(from)))};
#endif
}

inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  constexpr int64_t kBytes = kStoredBits;  // of eight numbers
  first[0] = EightNumbers(from);
  first[1] = EightNumbers(from + kBytes);
  second[0] = EightNumbers(from + 2 * kBytes);
  second[1] = EightNumbers(from + 3 * kBytes);
}
#endif

#elif defined(__ARM_NEON)
static_assert(kLanes == 4 && kRowVectorsOfPanel == 2, "a row has eight numbers");
constexpr float kUnit = 1.0f;

inline Vec FourHalves(const uint8_t* from) { return {vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(from)))}; }

#if LATHE_STORED == LATHE_STORED_F16
inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  first[0] = FourHalves(from);
  first[1] = FourHalves(from + 8);
  second[0] = FourHalves(from + 16);
  second[1] = FourHalves(from + 24);
}
#elif LATHE_STORED == LATHE_STORED_BF16
inline void OneRow(const uint8_t* from, RowOfPanel& row) {
  const uint16x8_t bits = vreinterpretq_u16_u8(vld1q_u8(from));
  row[0] = {vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(bits), 16))};
  row[1] = {vreinterpretq_f32_u32(vshll_n_u16(vget_high_u16(bits), 16))};
}
#else
inline void Widen(int16x8_t numbers, RowOfPanel& row) {
  row[0] = {vcvtq_f32_s32(vmovl_s16(vget_low_s16(numbers)))};
  row[1] = {vcvtq_f32_s32(vmovl_s16(vget_high_s16(numbers)))};
}
#if LATHE_STORED == LATHE_STORED_S16
inline void OneRow(const uint8_t* from, RowOfPanel& row) { Widen(vreinterpretq_s16_u8(vld1q_u8(from)), row); }
#elif LATHE_STORED == LATHE_STORED_S8
inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  const int8x16_t numbers = vreinterpretq_s8_u8(vld1q_u8(from));
  Widen(vmovl_s8(vget_low_s8(numbers)), first);
  Widen(vmovl_s8(vget_high_s8(numbers)), second);
}
#else
inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  const int8x8_t pairs = vreinterpret_s8_u8(vld1_u8(from));
  const int8x8x2_t rows = vzip_s8(vshr_n_s8(vshl_n_s8(pairs, 4), 4), vshr_n_s8(pairs, 4));
  Widen(vmovl_s8(rows.val[0]), first);
  Widen(vmovl_s8(rows.val[1]), second);
}
#endif
#endif
#if LATHE_STORED == LATHE_STORED_BF16 || LATHE_STORED == LATHE_STORED_S16
inline void TwoRows(const uint8_t* from, RowOfPanel& first, RowOfPanel& second) {
  OneRow(from, first);
  OneRow(from + 16, second);
}
#endif
#else
#error "there are no vectors of stored numbers for this instruction set"
#endif

#if LATHE_STORED != LATHE_STORED_U8 || !defined(LATHE_ISA_AVX2)
inline void InOrder(RowOfPanel&) {}
inline void OutOfOrder(RowOfPanel&) {}
#endif

// The scales of a panel, as TwoRows has its outputs.
inline void LoadScales(const StoredNumbers& stored, int64_t index, RowOfPanel& scales) {
  if (stored.scale_type == DType::kF16) {
    const uint8_t* const from = stored.scales + 2 * index;
#if defined(LATHE_ISA_AVX2)
    for (int j = 0; j < kRowVectorsOfPanel; ++j) scales[j] = EightHalves(from + 2 * kLanes * j);
#else
    for (int j = 0; j < kRowVectorsOfPanel; ++j) scales[j] = FourHalves(from + 2 * kLanes * j);
#endif
  } else {
    float numbers[kPanelWidth];
    memcpy(numbers, stored.scales + 4 * index, sizeof numbers);
    for (int j = 0; j < kRowVectorsOfPanel; ++j) scales[j] = Load(numbers + kLanes * j);
  }
  OutOfOrder(scales);
  if (kUnit != 1.0f) {
    for (int j = 0; j < kRowVectorsOfPanel; ++j) scales[j] = Mul(scales[j], Fill(kUnit));
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_STORED_NUMBERS_H_
