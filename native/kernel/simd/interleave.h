// Two or three rows of elements put side by side, as where channels go last or are shuffled: with vectors on 64-bit
// ARM, which has instructions for that, for bytes and words of 4 bytes on x86-64, and for bytes on the DSP.
#ifndef LATHE_KERNEL_SIMD_INTERLEAVE_H_
#define LATHE_KERNEL_SIMD_INTERLEAVE_H_

#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__HVX__)
#include "native/kernel/quantised/requantise_hvx.h"
#endif

namespace lathe {
namespace {

// to[i * rows + row] = from[row * stride + i] for i < length. False where it has done nothing: too few elements for a
// vector, another number of rows.
template <typename T>
inline bool Interleave(const T* from, int64_t stride, int64_t rows, int64_t length, T* to) {
  if (rows < 2 || rows > 3) return false;
  const T* const second = from + stride;
  if (rows == 2) {
    for (int64_t i = 0; i < length; ++i, to += 2) to[0] = from[i], to[1] = second[i];
  } else {
    const T* const third = second + stride;
    for (int64_t i = 0; i < length; ++i, to += 3) to[0] = from[i], to[1] = second[i], to[2] = third[i];
  }
  return true;
}

#if defined(__aarch64__) || defined(__x86_64__)

// The last vector overlaps the one before. What is stored has a name first: stores are macros of some compilers, which
// do not take braces.
template <typename T, typename F>
inline bool ForVectors(int64_t length, const F& f) {
  constexpr int64_t kLanes = 16 / sizeof(T);
  if (length < kLanes) return false;
  for (int64_t i = 0; i < length; i += kLanes) f(i + kLanes <= length ? i : length - kLanes);
  return true;
}

#endif
#if defined(__aarch64__)

inline bool Interleave(const uint8_t* from, int64_t stride, int64_t rows, int64_t length, uint8_t* to) {
  const auto row = [=](int64_t number, int64_t i) { return vld1q_u8(from + number * stride + i); };
  switch (rows) {
    case 2:
      return ForVectors<uint8_t>(length, [=](int64_t i) {
        const uint8x16x2_t together = {{row(0, i), row(1, i)}};
        vst2q_u8(to + 2 * i, together);
      });
    case 3:
      return ForVectors<uint8_t>(length, [=](int64_t i) {
        const uint8x16x3_t together = {{row(0, i), row(1, i), row(2, i)}};
        vst3q_u8(to + 3 * i, together);
      });
    default:
      return false;
  }
}

inline bool Interleave(const uint16_t* from, int64_t stride, int64_t rows, int64_t length, uint16_t* to) {
  const auto row = [=](int64_t number, int64_t i) { return vld1q_u16(from + number * stride + i); };
  switch (rows) {
    case 2:
      return ForVectors<uint16_t>(length, [=](int64_t i) {
        const uint16x8x2_t together = {{row(0, i), row(1, i)}};
        vst2q_u16(to + 2 * i, together);
      });
    case 3:
      return ForVectors<uint16_t>(length, [=](int64_t i) {
        const uint16x8x3_t together = {{row(0, i), row(1, i), row(2, i)}};
        vst3q_u16(to + 3 * i, together);
      });
    default:
      return false;
  }
}

inline bool Interleave(const uint32_t* from, int64_t stride, int64_t rows, int64_t length, uint32_t* to) {
  const auto row = [=](int64_t number, int64_t i) { return vld1q_u32(from + number * stride + i); };
  switch (rows) {
    case 2:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        const uint32x4x2_t together = {{row(0, i), row(1, i)}};
        vst2q_u32(to + 2 * i, together);
      });
    case 3:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        const uint32x4x3_t together = {{row(0, i), row(1, i), row(2, i)}};
        vst3q_u32(to + 3 * i, together);
      });
    default:
      return false;
  }
}

#elif defined(__x86_64__)

// Of four bytes each, the first three: 12 bytes.
inline void StoreThrees(__m128i fours, uint8_t* to) {
  const auto six = [](__m128i part) {
    const uint64_t two = static_cast<uint64_t>(_mm_cvtsi128_si64(part));
    return (two & 0xffffff) | (two >> 32 << 24);
  };
  const uint64_t low = six(fours), high = six(_mm_unpackhi_epi64(fours, fours)), first = low | high << 48;
  const uint32_t last = static_cast<uint32_t>(high >> 16);
  memcpy(to, &first, sizeof first);
  memcpy(to + sizeof first, &last, sizeof last);
}

inline bool Interleave(const uint8_t* from, int64_t stride, int64_t rows, int64_t length, uint8_t* to) {
  const auto row = [=](int64_t number, int64_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + number * stride + i));
  };
  switch (rows) {
    case 2:
      return ForVectors<uint8_t>(length, [=](int64_t i) {
        __m128i* target = reinterpret_cast<__m128i*>(to + 2 * i);
        _mm_storeu_si128(target, _mm_unpacklo_epi8(row(0, i), row(1, i)));
        _mm_storeu_si128(target + 1, _mm_unpackhi_epi8(row(0, i), row(1, i)));
      });
    case 3:
      return ForVectors<uint8_t>(length, [=](int64_t i) {
        const __m128i a = row(0, i), b = row(1, i), c = row(2, i), none = _mm_setzero_si128();
        const __m128i low = _mm_unpacklo_epi8(a, b), of_low = _mm_unpacklo_epi8(c, none);
        const __m128i high = _mm_unpackhi_epi8(a, b), of_high = _mm_unpackhi_epi8(c, none);
        StoreThrees(_mm_unpacklo_epi16(low, of_low), to + 3 * i);
        StoreThrees(_mm_unpackhi_epi16(low, of_low), to + 3 * i + 12);
        StoreThrees(_mm_unpacklo_epi16(high, of_high), to + 3 * i + 24);
        StoreThrees(_mm_unpackhi_epi16(high, of_high), to + 3 * i + 36);
      });
    default:
      return false;
  }
}

inline bool Interleave(const uint32_t* from, int64_t stride, int64_t rows, int64_t length, uint32_t* to) {
  const auto row = [=](int64_t number, int64_t i) {
    return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + number * stride + i)));
  };
  const auto store = [=](int64_t at, __m128 four) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), _mm_castps_si128(four));
  };
  switch (rows) {
    case 2:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        store(2 * i, _mm_unpacklo_ps(row(0, i), row(1, i)));
        store(2 * i + 4, _mm_unpackhi_ps(row(0, i), row(1, i)));
      });
    case 3:
      return ForVectors<uint32_t>(length, [=](int64_t i) {
        const __m128 a = row(0, i), b = row(1, i), c = row(2, i);
        const __m128 c0_a1 = _mm_shuffle_ps(c, a, _MM_SHUFFLE(1, 1, 0, 0));
        const __m128 b1_c1 = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 1, 1));
        const __m128 c2_a3 = _mm_shuffle_ps(c, a, _MM_SHUFFLE(3, 3, 2, 2));
        const __m128 b3_c3 = _mm_shuffle_ps(b, c, _MM_SHUFFLE(3, 3, 3, 3));
        store(3 * i, _mm_shuffle_ps(_mm_unpacklo_ps(a, b), c0_a1, _MM_SHUFFLE(2, 0, 1, 0)));
        store(3 * i + 4, _mm_shuffle_ps(b1_c1, _mm_unpackhi_ps(a, b), _MM_SHUFFLE(1, 0, 2, 0)));
        store(3 * i + 8, _mm_shuffle_ps(c2_a3, b3_c3, _MM_SHUFFLE(2, 0, 2, 0)));
      });
    default:
      return false;
  }
}

#elif defined(__HVX__)

// Of four bytes each, the first three: what a reverse delta network needs for that. Each of its steps moves bytes by a
// power of two, the smallest first, where a bit is set.
struct ThreesOfFours {
  uint8_t bits[kHvxBytes];

  constexpr ThreesOfFours() : bits() {
    for (int from = 0; from < kHvxBytes; ++from) {
      if (from % 4 == 3) continue;
      const int to = from / 4 * 3 + from % 4;
      for (int step = 1; step < kHvxBytes; step *= 2) {
        const int moved = (to & (2 * step - 1)) | (from & ~(2 * step - 1));
        if (((from ^ to) & step) != 0) bits[moved] = static_cast<uint8_t>(bits[moved] | step);
      }
    }
  }
};

// Some of the bytes of several vectors; nothing else is written.
template <int vectors>
inline void StoreVectors(const HVX_Vector (&bytes)[vectors], int count, uint8_t* to) {
  for (int n = 0; n < vectors && count > 0; ++n, count -= kHvxBytes, to += kHvxBytes) {
    if (count >= kHvxBytes) {
      StoreAny(bytes[n], to);
    } else {
      StoreFew(bytes[n], count, reinterpret_cast<int8_t*>(to));
    }
  }
}

inline void InterleaveThree(const uint8_t* from, int stride, int length, uint8_t* to) {
  alignas(kHvxBytes) static constexpr ThreesOfFours kThrees;
  const HVX_Vector threes = *reinterpret_cast<const HVX_Vector*>(kThrees.bits);
  const HVX_VectorPred first = Q6_Q_vsetq_R(96), second = Q6_Q_vsetq_R(64), third = Q6_Q_vsetq_R(32);
  for (int i = 0; i < length; i += kHvxBytes) {
    const int count = length - i < kHvxBytes ? length - i : kHvxBytes;
    const HVX_Vector a = LoadFew(from + i, count), b = LoadFew(from + stride + i, count);
    const HVX_Vector c = LoadFew(from + 2 * stride + i, count);
    const HVX_VectorPair twos = Q6_W_vshuff_VVR(b, a, -1), ones = Q6_W_vshuff_VVR(c, c, -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(ones), Q6_V_lo_W(twos), -2);
    const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(ones), Q6_V_hi_W(twos), -2);
    const HVX_Vector part[] = {Q6_V_vrdelta_VV(Q6_V_lo_W(low), threes), Q6_V_vrdelta_VV(Q6_V_hi_W(low), threes),
                               Q6_V_vrdelta_VV(Q6_V_lo_W(high), threes), Q6_V_vrdelta_VV(Q6_V_hi_W(high), threes)};
    const HVX_Vector middle = Q6_V_vror_VR(part[1], 32), last = Q6_V_vror_VR(part[2], 64);
    const HVX_Vector all[] = {Q6_V_vmux_QVV(first, part[0], middle), Q6_V_vmux_QVV(second, middle, last),
                              Q6_V_vmux_QVV(third, last, Q6_V_vror_VR(part[3], 96))};
    StoreVectors(all, 3 * count, to + 3 * i);
  }
}

inline bool Interleave(const uint8_t* from, int64_t stride, int64_t rows, int64_t length, uint8_t* to) {
  const int whole = static_cast<int>(length), step = static_cast<int>(stride);
  if (rows == 3) {
    InterleaveThree(from, step, whole, to);
    return true;
  }
  if (rows != 2) return false;
  for (int i = 0; i < whole; i += kHvxBytes) {
    const int count = whole - i < kHvxBytes ? whole - i : kHvxBytes;
    const HVX_Vector a = LoadFew(from + i, count), b = LoadFew(from + step + i, count);
    const HVX_VectorPair both = Q6_W_vshuff_VVR(b, a, -1);
    const HVX_Vector all[] = {Q6_V_lo_W(both), Q6_V_hi_W(both)};
    StoreVectors(all, 2 * count, to + 2 * i);
  }
  return true;
}

#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_INTERLEAVE_H_
