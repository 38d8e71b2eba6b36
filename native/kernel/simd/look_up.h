// Bytes from a table of 256.
#ifndef LATHE_KERNEL_SIMD_LOOK_UP_H_
#define LATHE_KERNEL_SIMD_LOOK_UP_H_

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__riscv_vector)
#include <riscv_vector.h>
#elif defined(__HVX__)
#include "native/kernel/quantised/requantise_hvx.h"
#endif

#include <stdint.h>

#include "native/runtime/span.h"

namespace lathe {
namespace {

#if defined(__AVX512BW__)

// As 128 pairs of bytes: AVX-512 looks up 64 of them in two registers. The half of the table, and then the byte of the
// pair, are chosen by bits of the index.
struct PairTable {
  static constexpr __mmask32 kAll = 0xffffffff;  // GCC 12 warns of its own header's functions without a mask
  __m512i parts[4];

  explicit PairTable(const uint8_t* table) {
    for (int i = 0; i < 4; ++i) parts[i] = _mm512_loadu_si512(table + 64 * i);
  }

  // Of 32 indices of 16 bits each: bytes in 16 bits.
  __m512i operator()(__m512i index) const {
    const __m512i pair = _mm512_srli_epi16(index, 1);
    const __m512i low = _mm512_permutex2var_epi16(parts[0], pair, parts[1]);
    const __m512i high = _mm512_permutex2var_epi16(parts[2], pair, parts[3]);
    const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(128));
    const __m512i both = _mm512_mask_blend_epi16(upper, low, high);
    const __mmask32 second = _mm512_test_epi16_mask(index, _mm512_set1_epi16(1));
    const __m512i chosen = _mm512_mask_srli_epi16(both, second, both, 8);
    return _mm512_maskz_and_epi32(0xffff, chosen, _mm512_set1_epi16(255));
  }
};

inline int64_t LookUpVectors(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  const PairTable pairs(table);
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m512i x = _mm512_loadu_si512(from + i);
    const __m512i even = pairs(_mm512_maskz_and_epi32(0xffff, x, _mm512_set1_epi16(255)));
    const __m512i odd = pairs(_mm512_srli_epi16(x, 8));
    _mm512_storeu_si512(to + i, _mm512_or_si512(even, _mm512_slli_epi16(odd, 8)));
  }
  return i;
}

#elif defined(__AVX2__)

// An instruction looks up sixteen bytes, and gives 0 where the highest bit of the index is set. Each part says how
// sixteen bytes of the table differ from those before, so that an index collects all parts up to its own while it is
// stepped down until it is below 0. One half of the table is for indices below 128, the other for the rest.
class ShuffleTable {
 public:
  explicit ShuffleTable(const uint8_t* table) {
    for (int i = 0; i < 2 * kHalf; ++i) {
      const __m128i* part = reinterpret_cast<const __m128i*>(table) + i;
      const __m128i last = i % kHalf == 0 ? _mm_setzero_si128() : _mm_loadu_si128(part - 1);
      parts_[i] = _mm256_broadcastsi128_si256(_mm_xor_si128(_mm_loadu_si128(part), last));
    }
  }

  LATHE_INLINE __m256i operator()(__m256i low) const {
    __m256i high = _mm256_xor_si256(low, _mm256_set1_epi8(-128));
    __m256i found = _mm256_setzero_si256(), other = found;
#pragma GCC unroll 8
    for (int i = 0; i < kHalf; ++i) {
      found = _mm256_xor_si256(found, _mm256_shuffle_epi8(parts_[i], low));
      other = _mm256_xor_si256(other, _mm256_shuffle_epi8(parts_[kHalf + i], high));
      low = _mm256_subs_epi8(low, _mm256_set1_epi8(16));
      high = _mm256_subs_epi8(high, _mm256_set1_epi8(16));
    }
    return _mm256_xor_si256(found, other);
  }

 private:
  static constexpr int kHalf = 8;
  __m256i parts_[2 * kHalf];
};

inline int64_t LookUpVectors(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  constexpr int64_t kVector = 32, kFew = 64;  // bytes that are looked up in less time than the parts are made
  if (count < kFew) return 0;
  const ShuffleTable parts(table);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), parts(index));
  }
  return i;
}

#elif defined(__aarch64__)

// Four registers hold 64 bytes; what lies outside of them is left to the next four.
inline int64_t LookUpVectors(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  const uint8x16x4_t first = vld1q_u8_x4(table), second = vld1q_u8_x4(table + 64);
  const uint8x16x4_t third = vld1q_u8_x4(table + 128), fourth = vld1q_u8_x4(table + 192);
  const uint8x16_t step = vdupq_n_u8(64);
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    uint8x16_t index = vld1q_u8(from + i);
    uint8x16_t found = vqtbl4q_u8(first, index);
    found = vqtbx4q_u8(found, second, index = vsubq_u8(index, step));
    found = vqtbx4q_u8(found, third, index = vsubq_u8(index, step));
    found = vqtbx4q_u8(found, fourth, vsubq_u8(index, step));
    vst1q_u8(to + i, found);
  }
  return i;
}

#elif defined(__riscv_vector)

inline int64_t LookUpVectors(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count;) {
    const size_t length = __riscv_vsetvl_e8m8(static_cast<size_t>(count - i));
    __riscv_vse8_v_u8m8(to + i, __riscv_vluxei8_v_u8m8(table, __riscv_vle8_v_u8m8(from + i, length), length), length);
    i += static_cast<int64_t>(length);
  }
  return count;
}

#elif defined(__HVX__)

// Each instruction looks up 32 bytes of the table, those of a vector's even or odd bytes; other indices give 0.
class HvxTable {
 public:
  explicit HvxTable(const uint8_t* table)
      : low_(Q6_Vb_vshuff_Vb(LoadAny(table))), high_(Q6_Vb_vshuff_Vb(LoadAny(table + kHvxBytes))) {}

  LATHE_INLINE HVX_Vector operator[](HVX_Vector index) const {
    HVX_Vector found = Q6_Vb_vlut32_VbVbR(index, low_, 0);
    found = Q6_Vb_vlut32or_VbVbVbR(found, index, low_, 1);
    found = Q6_Vb_vlut32or_VbVbVbR(found, index, low_, 2);
    found = Q6_Vb_vlut32or_VbVbVbR(found, index, low_, 3);
    HVX_Vector behind = Q6_Vb_vlut32_VbVbR(index, high_, 4);
    behind = Q6_Vb_vlut32or_VbVbVbR(behind, index, high_, 5);
    behind = Q6_Vb_vlut32or_VbVbVbR(behind, index, high_, 6);
    behind = Q6_Vb_vlut32or_VbVbVbR(behind, index, high_, 7);
    return Q6_V_vor_VV(found, behind);
  }

  // Nothing behind the last byte is read.
  void Run(const uint8_t* from, uint8_t* to, int64_t bytes) const {
    int count = static_cast<int>(bytes);
    for (; count >= kHvxBytes; count -= kHvxBytes, from += kHvxBytes, to += kHvxBytes)
      StoreAny((*this)[LoadAny(from)], to);
    if (count > 0) StoreFew((*this)[LoadFew(from, count)], count, reinterpret_cast<int8_t*>(to));
  }

 private:
  HVX_Vector low_, high_;
};

inline int64_t LookUpVectors(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  constexpr int64_t kFew = 16;  // bytes that are looked up in less time than the table is loaded
  if (count < kFew) return 0;
  HvxTable(table).Run(from, to, count);
  return count;
}

#else

inline int64_t LookUpVectors(const uint8_t*, const uint8_t*, uint8_t*, int64_t) { return 0; }

#endif

inline void LookUp(const uint8_t* table, const uint8_t* from, uint8_t* to, int64_t count) {
  for (int64_t i = LookUpVectors(table, from, to, count); i < count; ++i) to[i] = table[from[i]];
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_LOOK_UP_H_
