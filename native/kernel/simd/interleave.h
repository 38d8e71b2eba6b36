// Two or three rows of elements put side by side, as where channels go last or are shuffled: on 64-bit ARM, which has
// instructions for that, and bytes on x86-64.
#ifndef LATHE_KERNEL_SIMD_INTERLEAVE_H_
#define LATHE_KERNEL_SIMD_INTERLEAVE_H_

#include <stdint.h>
#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace lathe {
namespace {

// to[i * rows + row] = from[row * stride + i] for i < length. False where it has done nothing: too few elements for a
// vector, another number of rows, another machine.
template <typename T>
inline bool Interleave(const T*, int64_t, int64_t, int64_t, T*) {
  return false;
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

#endif

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_INTERLEAVE_H_
