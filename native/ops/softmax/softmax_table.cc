// e^(x - max) divided by its sum along one axis of bytes. A difference to the largest byte has 256 values: their powers
// are integers of a table, whose sums are exact in any order. What two bytes come to depends on their difference alone.
#include "native/kernel/loops/axis.h"
#include "native/kernel/math/math64.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/sixteen.h"
#if defined(__HVX__)
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/look_up.h"
#endif

namespace lathe {
namespace {

struct SoftmaxBytes {
  static constexpr double kOne = 1073741824.0;  // 2^30

  uint32_t powers[256];  // e^(-i * scale), kOne is 1
  double y_scale;
  Steps steps;
  int8_t of_two[511];  // by the difference of a byte to the other one, plus 255

  Code Read(const PrepareContext& context) {
    Stored x = {}, y = {};
    LATHE_TRY(ReadStored(context, context.input(0), &x));
    LATHE_TRY(ReadStored(context, context.output(0), &y));
    for (int i = 0; i < 256; ++i) {
      powers[i] = static_cast<uint32_t>(Exp64(-i * static_cast<double>(x.scale)) * kOne + 0.5);
    }
#if defined(__HVX__)
    for (int i = 0; i < 256; ++i) {
      for (int n = 0; n < kParts; ++n) parts[n][i] = static_cast<uint8_t>(powers[i] >> (8 * n));
    }
#endif
    y_scale = static_cast<double>(y.scale);
    steps = WholeSteps(y.zero);
    for (int i = 0; i < 256; ++i) {
      const float factor = FactorOf(uint64_t{powers[0]} + powers[i]);
      of_two[255 + i] = Result(0, factor);
      of_two[255 - i] = Result(i, factor);
    }
    return Code::kOk;
  }

  // Of one step of the table; at least the largest element is in the sum.
  float FactorOf(uint64_t sum) const { return static_cast<float>(1.0 / (static_cast<double>(sum) * y_scale)); }

  int8_t Result(int difference, float factor) const {
    return ByteOf(static_cast<float>(powers[difference]) * factor, steps);
  }

#if defined(__HVX__)
  static constexpr int kParts = 4;
  static constexpr int kShort = 64;  // bytes that take less time one by one

  uint8_t parts[kParts][256];  // bytes of powers

  // A vector of the line from `i` on; behind its end is what comes to the smallest power.
  LATHE_INLINE static HVX_Vector Load(const int8_t* from, int i, int size) {
    const int left = size - i;
    if (left >= kHvxBytes) return LoadAny(from + i);
    return Q6_V_vmux_QVV(Q6_Q_vsetq_R(left), LoadFew(from + i, left), Q6_Vb_vsplat_R(INT8_MIN));
  }

  static int LargestOf(const int8_t* from, int size) {
    HVX_Vector best = Q6_Vb_vsplat_R(INT8_MIN);
    for (int i = 0; i < size; i += kHvxBytes) best = Q6_Vb_vmax_VbVb(best, Load(from, i, size));
    for (int bytes = kHvxBytes / 2; bytes > 0; bytes /= 2) best = Q6_Vb_vmax_VbVb(best, Q6_V_vror_VR(best, bytes));
    return static_cast<int8_t>(Q6_R_vextract_VR(best, 0));
  }

  uint64_t SumOf(const int8_t* from, int best, int size) const {
    const HVX_Vector largest = Q6_Vb_vsplat_R(best);
    uint64_t sum = 0;
    for (int n = 0; n < kParts; ++n) {
      const HvxTable table(parts[n]);
      HVX_Vector sums = Q6_V_vzero();
      for (int i = 0; i < size; i += kHvxBytes) {
        HVX_Vector found = table[Q6_Vb_vsub_VbVb(largest, Load(from, i, size))];
        if (size - i < kHvxBytes) found = Q6_V_vand_QV(Q6_Q_vsetq_R(size - i), found);
        sums = Q6_Vuw_vrmpyacc_VuwVubRub(sums, found, 0x01010101);
      }
      for (int bytes = kHvxBytes / 2; bytes >= 4; bytes /= 2) sums = Q6_Vw_vadd_VwVw(sums, Q6_V_vror_VR(sums, bytes));
      sum += static_cast<uint64_t>(static_cast<uint32_t>(Q6_R_vextract_VR(sums, 0))) << (8 * n);
    }
    return sum;
  }

  // What each difference comes to is found out once: results fall until they are those of 0.
  void RunVectors(const int8_t* from, int8_t* to, int size) const {
    const int best = LargestOf(from, size);
    const float factor = FactorOf(SumOf(from, best, size));
    int8_t results[256];
    const int8_t none = ByteOf(0.0f, steps);
    FillBytes(results, sizeof results, none);
    for (int i = 0; i < 256 && (results[i] = Result(i, factor)) != none; ++i) {
    }
    const HvxTable table(reinterpret_cast<const uint8_t*>(results));
    const HVX_Vector largest = Q6_Vb_vsplat_R(best);
    for (int i = 0; i < size; i += kHvxBytes) {
      const HVX_Vector found = table[Q6_Vb_vsub_VbVb(largest, Load(from, i, size))];
      StoreBytes(found, size - i < kHvxBytes ? size - i : kHvxBytes, to + i);
    }
  }
#endif

  static int8_t LargestOf(const int8_t* from, int64_t size) {
#if defined(__AVX2__)
    if (size >= kStretch) {
      const auto load = [from](int64_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)); };
      __m128i best = load(size - kStretch);
      for (int64_t i = 0; i < size - kStretch; i += kStretch) best = _mm_max_epi8(best, load(i));
      // As numbers without a sign the largest is the smallest of the inverted ones.
      const __m128i inverted = _mm_xor_si128(best, _mm_set1_epi8(127));
      const __m128i pairs = _mm_min_epu8(inverted, _mm_srli_epi16(inverted, 8));
      const __m128i least = _mm_minpos_epu16(_mm_and_si128(pairs, _mm_set1_epi16(255)));
      return static_cast<int8_t>(_mm_cvtsi128_si32(least) ^ 127);
    }
#endif
    int8_t best = from[0];
    for (int64_t i = 1; i < size; ++i) best = from[i] > best ? from[i] : best;
    return best;
  }

  // Powers of up to kPiece elements. The sum of these, whatever the size.
  uint64_t Powers(const int8_t* from, int best, int64_t count, int32_t* found) const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t power = powers[best - from[i]];
      found[i] = static_cast<int32_t>(power);
      sum += power;
    }
    return sum;
  }

  void RunRow(const int8_t* from, int8_t* to, int64_t size) const {
    constexpr int64_t kPiece = 256;
    const int best = LargestOf(from, size);
    int32_t found[kPiece + kStretch];
    uint64_t sum = 0;
    for (int64_t i = 0; i < size; i += kPiece)
      sum += Powers(from + i, best, size - i < kPiece ? size - i : kPiece, found);
    const Sixteen factor = Sixteen::Fill(FactorOf(sum));
    const Steps own = steps;
    for (int64_t i = 0; i < size; i += kPiece) {
      const int64_t count = size - i < kPiece ? size - i : kPiece;
      if (size > kPiece) Powers(from + i, best, count, found);
      int64_t j = 0;
      for (; j + kStretch <= count; j += kStretch) (Sixteen::OfInts(found + j) * factor).Store(own, to + i + j);
      if (j == count) continue;
      memset(found + count, 0, kStretch * sizeof *found);
      StoreSome(Sixteen::OfInts(found + j) * factor, own, to + i + j, count - j);
    }
  }

  template <typename T, typename To>
  void operator()(const Source<T>& from, const Target<To>& to, int64_t size) const {
#if defined(__HVX__)
    if (from.stride == 1 && size >= kShort) return RunVectors(from.data, to.data, static_cast<int>(size));
#endif
    if (size == 2) {
      const int difference = from[0] - from[1];
      to.Set(0, of_two[255 + difference]);
      return to.Set(1, of_two[255 - difference]);
    }
    if (from.stride == 1) return RunRow(from.data, to.data, size);
    int best = from[0];
    for (int64_t i = 1; i < size; ++i) best = from[i] > best ? from[i] : best;
    uint64_t sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += powers[best - from[i]];
    const float factor = FactorOf(sum);
    for (int64_t i = 0; i < size; ++i) to.Set(i, Result(best - from[i], factor));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AxisKernel<lathe::SoftmaxBytes, lathe::Types<int8_t>>();
