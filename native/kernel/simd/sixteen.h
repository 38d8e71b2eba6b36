// Sixteen numbers side by side, for kernels of bytes that are written once: real numbers, and sums of bytes. The
// compiler's instruction set decides what holds them; all of them round alike, once per operation.
#ifndef LATHE_KERNEL_SIMD_SIXTEEN_H_
#define LATHE_KERNEL_SIMD_SIXTEEN_H_

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#if defined(__HVX__)
#include "native/kernel/quantised/sums_hvx.h"
#endif
#include "native/kernel/quantised/requantise.h"
#include "native/runtime/span.h"

namespace lathe {
namespace {

#if defined(__AVX512F__)

struct Sixteen {
  static constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of its own header's functions without a mask
  __m512 v;

  static Sixteen Fill(float x) { return {_mm512_set1_ps(x)}; }
  static Sixteen OfInts(const int32_t* from) { return {_mm512_maskz_cvtepi32_ps(kAll, _mm512_loadu_si512(from))}; }
  static Sixteen OfFloats(const float* from) { return {_mm512_loadu_ps(from)}; }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m512i steps = _mm512_sub_epi32(_mm512_maskz_cvtepi8_epi32(kAll, bytes), _mm512_set1_epi32(zero));
    return {_mm512_maskz_cvtepi32_ps(kAll, steps)};
  }
  void StoreTo(float* to) const { _mm512_storeu_ps(to, v); }
  Sixteen operator+(Sixteen b) const { return {_mm512_add_ps(v, b.v)}; }
  Sixteen operator-(Sixteen b) const { return {_mm512_sub_ps(v, b.v)}; }
  Sixteen operator*(Sixteen b) const { return {_mm512_mul_ps(v, b.v)}; }
  Sixteen operator/(Sixteen b) const { return {_mm512_div_ps(v, b.v)}; }
  void Store(const Steps& steps, int8_t* to) const {
    const __m512 above = _mm512_maskz_min_ps(kAll, v, _mm512_set1_ps(steps.high));
    const __m512 value = _mm512_maskz_max_ps(kAll, above, _mm512_set1_ps(steps.low));
    const __m512i sum = _mm512_add_epi32(_mm512_maskz_cvtps_epi32(kAll, value), _mm512_set1_epi32(steps.zero));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtepi32_epi8(kAll, sum));
  }
};

struct SixteenSums {
  __m512i v = _mm512_setzero_si512();

  void Add(const int8_t* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    v = _mm512_add_epi32(v, _mm512_maskz_cvtepi8_epi32(Sixteen::kAll, bytes));
  }
  void StoreTo(int32_t* to) const { _mm512_storeu_si512(to, v); }
};

#elif defined(__AVX2__)

struct Sixteen {
  __m256 v[2];

  static Sixteen Fill(float x) { return {{_mm256_set1_ps(x), _mm256_set1_ps(x)}}; }
  static __m256i Ints(const int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Sixteen OfInts(const int32_t* from) {
    return {{_mm256_cvtepi32_ps(Ints(from)), _mm256_cvtepi32_ps(Ints(from + 8))}};
  }
  static Sixteen OfFloats(const float* from) { return {{_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}}; }
  // Eight bytes as numbers.
  static __m256i Wide(const int8_t* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    const __m256i zeros = _mm256_set1_epi32(zero);
    return {{_mm256_cvtepi32_ps(_mm256_sub_epi32(Wide(from), zeros)),
             _mm256_cvtepi32_ps(_mm256_sub_epi32(Wide(from + 8), zeros))}};
  }
  void StoreTo(float* to) const {
    for (int i = 0; i < 2; ++i) _mm256_storeu_ps(to + 8 * i, v[i]);
  }
  Sixteen operator+(const Sixteen& b) const { return {{_mm256_add_ps(v[0], b.v[0]), _mm256_add_ps(v[1], b.v[1])}}; }
  Sixteen operator-(const Sixteen& b) const { return {{_mm256_sub_ps(v[0], b.v[0]), _mm256_sub_ps(v[1], b.v[1])}}; }
  Sixteen operator*(const Sixteen& b) const { return {{_mm256_mul_ps(v[0], b.v[0]), _mm256_mul_ps(v[1], b.v[1])}}; }
  Sixteen operator/(const Sixteen& b) const { return {{_mm256_div_ps(v[0], b.v[0]), _mm256_div_ps(v[1], b.v[1])}}; }
  static __m256i Rounded(__m256 value, const Steps& steps) {
    const __m256 above = _mm256_min_ps(value, _mm256_set1_ps(steps.high));
    const __m256 limited = _mm256_max_ps(above, _mm256_set1_ps(steps.low));
    return _mm256_add_epi32(_mm256_cvtps_epi32(limited), _mm256_set1_epi32(steps.zero));
  }
  void Store(const Steps& steps, int8_t* to) const {
    // Packing works within halves: their order is mended in between.
    const __m256i words = _mm256_packs_epi32(Rounded(v[0], steps), Rounded(v[1], steps));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  }
};

struct SixteenSums {
  __m256i v[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

  void Add(const int8_t* from) {
    v[0] = _mm256_add_epi32(v[0], Sixteen::Wide(from));
    v[1] = _mm256_add_epi32(v[1], Sixteen::Wide(from + 8));
  }
  void StoreTo(int32_t* to) const {
    for (int i = 0; i < 2; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8 * i), v[i]);
  }
};

#elif defined(__riscv_vector)

// Of the compiler's vectors of a fixed size: see vector_rvv.h.
struct Sixteen {
  typedef float Floats __attribute__((vector_size(64)));
  typedef int32_t Ints __attribute__((vector_size(64)));
  typedef int8_t Bytes __attribute__((vector_size(16)));
  Floats v;

  template <typename T, typename From>
  static LATHE_INLINE T Loaded(const From* from) {
    T x;
    memcpy(&x, from, sizeof x);
    return x;
  }
  static Floats Filled(float x) { return Floats{x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
  static Sixteen Fill(float x) { return {Filled(x)}; }
  static Sixteen OfInts(const int32_t* from) { return {__builtin_convertvector(Loaded<Ints>(from), Floats)}; }
  static Sixteen OfFloats(const float* from) { return {Loaded<Floats>(from)}; }
  static Ints Wide(const int8_t* from) { return __builtin_convertvector(Loaded<Bytes>(from), Ints); }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    return {__builtin_convertvector(Wide(from) - zero, Floats)};
  }
  void StoreTo(float* to) const { memcpy(to, &v, sizeof v); }
  Sixteen operator+(const Sixteen& b) const { return {v + b.v}; }
  Sixteen operator-(const Sixteen& b) const { return {v - b.v}; }
  Sixteen operator*(const Sixteen& b) const { return {v * b.v}; }
  Sixteen operator/(const Sixteen& b) const { return {v / b.v}; }
  // As ByteOf rounds.
  void Store(const Steps& steps, int8_t* to) const {
    const Floats high = Filled(steps.high), low = Filled(steps.low);
    Floats value = v < high ? v : high;
    value = value > low ? value : low;
    const Ints whole = (Ints)(value + Filled(12582912.0f)) - 0x4b400000 + steps.zero;
    const Bytes bytes = __builtin_convertvector(whole, Bytes);
    memcpy(to, &bytes, sizeof bytes);
  }
};

struct SixteenSums {
  Sixteen::Ints v = {};

  void Add(const int8_t* from) { v += Sixteen::Wide(from); }
  void StoreTo(int32_t* to) const { memcpy(to, &v, sizeof v); }
};

#elif defined(__wasm_simd128__)

struct Sixteen {
  v128_t v[4];

  template <typename F>
  static LATHE_INLINE Sixteen Each(const F& f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  static Sixteen Fill(float x) {
    return Each([x](int) { return wasm_f32x4_splat(x); });
  }
  static Sixteen OfInts(const int32_t* from) {
    return Each([from](int i) { return wasm_f32x4_convert_i32x4(wasm_v128_load(from + 4 * i)); });
  }
  static Sixteen OfFloats(const float* from) {
    return Each([from](int i) { return wasm_v128_load(from + 4 * i); });
  }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    const v128_t zeros = wasm_i16x8_splat(static_cast<int16_t>(zero));
    const v128_t low = wasm_i16x8_sub(wasm_i16x8_load8x8(from), zeros);
    const v128_t high = wasm_i16x8_sub(wasm_i16x8_load8x8(from + 8), zeros);
    return {{wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(low)),
             wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(low)),
             wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(high)),
             wasm_f32x4_convert_i32x4(wasm_i32x4_extend_high_i16x8(high))}};
  }
  void StoreTo(float* to) const {
    for (int i = 0; i < 4; ++i) wasm_v128_store(to + 4 * i, v[i]);
  }
  Sixteen operator+(const Sixteen& b) const {
    return Each([&](int i) { return wasm_f32x4_add(v[i], b.v[i]); });
  }
  Sixteen operator-(const Sixteen& b) const {
    return Each([&](int i) { return wasm_f32x4_sub(v[i], b.v[i]); });
  }
  Sixteen operator*(const Sixteen& b) const {
    return Each([&](int i) { return wasm_f32x4_mul(v[i], b.v[i]); });
  }
  Sixteen operator/(const Sixteen& b) const {
    return Each([&](int i) { return wasm_f32x4_div(v[i], b.v[i]); });
  }
  // As ByteOf rounds: adding 1.5 * 2^23 leaves the nearest integer in the lowest bits. A minimum that engines compile
  // to one instruction of x86 compares and chooses.
  LATHE_INLINE void Store(const Steps& steps, int8_t* to) const {
    const v128_t low = wasm_f32x4_splat(steps.low), high = wasm_f32x4_splat(steps.high);
    const v128_t magic = wasm_f32x4_const_splat(12582912.0f), zero = wasm_i32x4_splat(steps.zero - 0x4b400000);
    const Sixteen whole = Each([&](int i) {
      const v128_t value = wasm_f32x4_pmax(low, wasm_f32x4_pmin(high, v[i]));
      return wasm_i32x4_add(wasm_f32x4_add(value, magic), zero);
    });
    const v128_t first = wasm_i16x8_narrow_i32x4(whole.v[0], whole.v[1]);
    wasm_v128_store(to, wasm_i8x16_narrow_i16x8(first, wasm_i16x8_narrow_i32x4(whole.v[2], whole.v[3])));
  }
};

struct SixteenSums {
  v128_t v[4] = {};

  void Add(const int8_t* from) {
    const v128_t low = wasm_i16x8_load8x8(from), high = wasm_i16x8_load8x8(from + 8);
    v[0] = wasm_i32x4_add(v[0], wasm_i32x4_extend_low_i16x8(low));
    v[1] = wasm_i32x4_add(v[1], wasm_i32x4_extend_high_i16x8(low));
    v[2] = wasm_i32x4_add(v[2], wasm_i32x4_extend_low_i16x8(high));
    v[3] = wasm_i32x4_add(v[3], wasm_i32x4_extend_high_i16x8(high));
  }
  void StoreTo(int32_t* to) const {
    for (int i = 0; i < 4; ++i) wasm_v128_store(to + 4 * i, v[i]);
  }
};

#elif defined(__aarch64__)

struct Sixteen {
  float32x4_t v[4];

  template <typename F>
  static LATHE_INLINE Sixteen Each(const F& f) {
    return {{f(0), f(1), f(2), f(3)}};
  }
  static Sixteen Fill(float x) {
    return Each([x](int) { return vdupq_n_f32(x); });
  }
  static Sixteen OfInts(const int32_t* from) {
    return Each([from](int i) { return vcvtq_f32_s32(vld1q_s32(from + 4 * i)); });
  }
  static Sixteen OfFloats(const float* from) {
    return Each([from](int i) { return vld1q_f32(from + 4 * i); });
  }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    const int8x16_t bytes = vld1q_s8(from);
    const int8x8_t zeros = vdup_n_s8(static_cast<int8_t>(zero));
    const int16x8_t low = vsubl_s8(vget_low_s8(bytes), zeros), high = vsubl_s8(vget_high_s8(bytes), zeros);
    return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_high_s16(low)),
             vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_high_s16(high))}};
  }
  void StoreTo(float* to) const {
    for (int i = 0; i < 4; ++i) vst1q_f32(to + 4 * i, v[i]);
  }
  Sixteen operator+(const Sixteen& b) const {
    return Each([&](int i) { return vaddq_f32(v[i], b.v[i]); });
  }
  Sixteen operator-(const Sixteen& b) const {
    return Each([&](int i) { return vsubq_f32(v[i], b.v[i]); });
  }
  Sixteen operator*(const Sixteen& b) const {
    return Each([&](int i) { return vmulq_f32(v[i], b.v[i]); });
  }
  Sixteen operator/(const Sixteen& b) const {
    return Each([&](int i) { return vdivq_f32(v[i], b.v[i]); });
  }
  LATHE_INLINE void Store(const Steps& steps, int8_t* to) const {
    const float32x4_t low = vdupq_n_f32(steps.low), high = vdupq_n_f32(steps.high);
    int32x4_t sums[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      // The smaller number, of NaN the limit.
      sums[i] = vcvtnq_s32_f32(vmaxnmq_f32(vminnmq_f32(v[i], high), low));
    }
    const int16x8_t zeros = vdupq_n_s16(static_cast<int16_t>(steps.zero));
    const int16x8_t first = vaddq_s16(vcombine_s16(vmovn_s32(sums[0]), vmovn_s32(sums[1])), zeros);
    const int16x8_t second = vaddq_s16(vcombine_s16(vmovn_s32(sums[2]), vmovn_s32(sums[3])), zeros);
    vst1q_s8(to, vcombine_s8(vmovn_s16(first), vmovn_s16(second)));
  }
};

struct SixteenSums {
  int32x4_t v[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};

  void Add(const int8_t* from) {
    const int8x16_t bytes = vld1q_s8(from);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_high_s8(bytes);
    v[0] = vaddw_s16(v[0], vget_low_s16(low));
    v[1] = vaddw_high_s16(v[1], low);
    v[2] = vaddw_s16(v[2], vget_low_s16(high));
    v[3] = vaddw_high_s16(v[3], high);
  }
  void StoreTo(int32_t* to) const {
    for (int i = 0; i < 4; ++i) vst1q_s32(to + 4 * i, v[i]);
  }
};

#else

struct Sixteen {
  float v[kStretch];

  template <typename F>
  static Sixteen Each(const F& f) {
    Sixteen result;
    for (int i = 0; i < kStretch; ++i) result.v[i] = f(i);
    return result;
  }
  static Sixteen Fill(float x) {
    return Each([x](int) { return x; });
  }
  static Sixteen OfInts(const int32_t* from) {
    return Each([from](int i) { return static_cast<float>(from[i]); });
  }
  static Sixteen OfFloats(const float* from) {
    return Each([from](int i) { return from[i]; });
  }
  // x - zero.
  static Sixteen OfBytes(const int8_t* from, int32_t zero) {
    return Each([=](int i) { return static_cast<float>(from[i] - zero); });
  }
  void StoreTo(float* to) const { memcpy(to, v, sizeof v); }
  Sixteen operator+(const Sixteen& b) const {
    return Each([&](int i) { return v[i] + b.v[i]; });
  }
  Sixteen operator-(const Sixteen& b) const {
    return Each([&](int i) { return v[i] - b.v[i]; });
  }
  Sixteen operator*(const Sixteen& b) const {
    return Each([&](int i) { return v[i] * b.v[i]; });
  }
  Sixteen operator/(const Sixteen& b) const {
    return Each([&](int i) { return v[i] / b.v[i]; });
  }
  void Store(const Steps& steps, int8_t* to) const { StoreSteps(v, steps, to); }
};

struct SixteenSums {
  int32_t v[kStretch] = {};

  void Add(const int8_t* from) {
    for (int i = 0; i < kStretch; ++i) v[i] += from[i];
  }
  void StoreTo(int32_t* to) const { memcpy(to, v, sizeof v); }
};

#endif

// From one way of storing to another.
LATHE_INLINE void ConvertStretch(const ByteConversion& conversion, const int8_t* from, int8_t* to) {
  (Sixteen::OfBytes(from, conversion.zero) * Sixteen::Fill(conversion.factor)).Store(conversion.steps, to);
}

#if defined(__AVX512BW__)

// Four stretches, which are packed together.
inline void ConvertFour(const ByteConversion& conversion, const int8_t* from, int8_t* to) {
  const __m512 high = _mm512_set1_ps(conversion.steps.high);
  const auto steps = [&](int i) {
    const __m512 value = (Sixteen::OfBytes(from + i * kStretch, conversion.zero) * Sixteen::Fill(conversion.factor)).v;
    return _mm512_maskz_cvtps_epi32(Sixteen::kAll, _mm512_maskz_min_ps(Sixteen::kAll, value, high));
  };
  // What is too low remains so in 16 bits.
  const __m512i zeros = _mm512_set1_epi16(static_cast<int16_t>(conversion.steps.zero));
  const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(steps(0), steps(1)), zeros);
  const __m512i last = _mm512_adds_epi16(_mm512_packs_epi32(steps(2), steps(3)), zeros);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i bytes = _mm512_packs_epi16(first, last);
  _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi32(Sixteen::kAll, order, bytes));
}

#endif

// `to` is other memory.
inline void ConvertBytes(const ByteConversion& conversion, const int8_t* from, int8_t* to, int64_t count) {
  const ByteConversion own = conversion;
  int64_t i = 0;
#if defined(__HVX__)
  const HvxSum<1> sum(&own.zero, &own.factor, own.steps);
  if (count >= kStretch && sum.usable())
    return sum.Run({{from, true, 0}}, count, to,
                   [&](const int8_t* const* x, int i) { return ConvertByte(own, x[0][i]); });
#elif defined(__AVX512BW__)
  for (; i + 4 * kStretch <= count; i += 4 * kStretch) ConvertFour(own, from + i, to + i);
#endif
  for (; i + kStretch <= count; i += kStretch) ConvertStretch(own, from + i, to + i);
  if (i < count && i > 0) {  // overlaps the one before
    ConvertStretch(own, from + count - kStretch, to + count - kStretch);
    return;
  }
#if defined(__clang__)
#pragma clang loop vectorize(disable)  // fewer than a stretch
#endif
  for (; i < count; ++i) to[i] = ConvertByte(own, from[i]);
}

// A stretch whose rest is 0.
inline void LoadSome(const int8_t* from, int64_t count, int8_t (&bytes)[kStretch]) {
  for (int i = 0; i < kStretch; ++i) bytes[i] = i < count ? from[i] : int8_t{0};
}

inline void StoreSome(const Sixteen& values, const Steps& steps, int8_t* to, int64_t count) {
  int8_t bytes[kStretch];
  values.Store(steps, bytes);
  for (int i = 0; i < kStretch && i < count; ++i) to[i] = bytes[i];
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_SIXTEEN_H_
