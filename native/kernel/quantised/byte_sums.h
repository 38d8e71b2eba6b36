// Means of bytes.
#ifndef LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_
#define LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_

#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

// What a mean is in steps of the output. `offset` is what the zero points of all that is summed come to.
struct ByteMeans {
  int32_t x_zero;
  float factor;
  Steps steps;
};

inline int8_t MeanOf(const ByteMeans& means, int32_t sum, int32_t offset, float divisor) {
  return ByteOf(static_cast<float>(sum - offset) * means.factor / divisor, means.steps);
}

#if defined(__HVX__)

// Sums of bytes of 128 channels: without a sign, in 16 bits for as long as they hold them.
class HvxByteSums {
 public:
  HvxByteSums() {
    for (HVX_Vector& word : words_) word = Q6_V_vzero();
    halves_ = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
  }

  LATHE_INLINE void Add(HVX_Vector bytes) {
    constexpr int kFlip = static_cast<int>(0x80808080), kOnes = 0x01010101;
    halves_ = Q6_Wuh_vmpyacc_WuhVubRub(halves_, Q6_V_vxor_VV(bytes, Q6_V_vsplat_R(kFlip)), kOnes);
    if (++count_ % kMost == 0) Flush();
  }

  // In the order of channels.
  void StoreTo(int32_t* to) {
    Flush();
    const HVX_Vector added = Q6_V_vsplat_R(128 * count_);
    for (int n = 0; n < kQuarters; ++n) StoreAny(Q6_Vw_vsub_VwVw(words_[n], added), to + n * kHvxLanes);
  }

 private:
  static constexpr int kMost = 256, kQuarters = 4;

  void Flush() {
    const HVX_VectorPair ordered = Q6_W_vshuff_VVR(Q6_V_hi_W(halves_), Q6_V_lo_W(halves_), -2);
    const HVX_VectorPair low = Q6_Wuw_vunpack_Vuh(Q6_V_lo_W(ordered)), high = Q6_Wuw_vunpack_Vuh(Q6_V_hi_W(ordered));
    const HVX_Vector parts[] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
    for (int n = 0; n < kQuarters; ++n) words_[n] = Q6_Vw_vadd_VwVw(words_[n], parts[n]);
    halves_ = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
  }

  HVX_Vector words_[kQuarters];
  HVX_VectorPair halves_;
  int count_ = 0;
};

inline void StoreMeans(const ByteMeans& means, HvxByteSums& sums, int32_t offset, float divisor, int count,
                       int8_t* to) {
  constexpr int kQuarters = kHvxBytes / kHvxLanes;
  constexpr HvxDoubt kDoubtOfMeans = {6, 5};  // single precision rounds the sum, the product and the quotient
  alignas(kHvxBytes) int32_t ints[kHvxBytes];
  sums.StoreTo(ints);
  const float factor = means.factor / divisor;
  if (HasTies(factor)) {
    for (int i = 0; i < count; ++i) to[i] = MeanOf(means, ints[i], offset, divisor);
    return;
  }
  HvxFactors factors;
  factors.Read(factor);
  const HvxStore store(means.steps.zero, means.steps.low, means.steps.high, kDoubtOfMeans);
  HVX_Vector raised[kQuarters], least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
  for (int n = 0; n < kQuarters; ++n) {
    raised[n] = store.Raise(factors.Times(Q6_Vw_vsub_VwVw(LoadAny(ints + n * kHvxLanes), Q6_V_vsplat_R(offset))));
    least = HvxStore::Least(least, raised[n]);
  }
  StoreBytes(store.Bytes(raised), count, to);
  if (store.InDoubt(least))
    store.ForDoubts(raised, kQuarters, 0, count, [&](int i) { to[i] = MeanOf(means, ints[i], offset, divisor); });
}

#endif

inline void StoreMeans(const ByteMeans& means, const SixteenSums& sums, int32_t offset, float divisor, int8_t* to) {
  int32_t ints[kStretch];
  sums.StoreTo(ints);
  for (int32_t& sum : ints) sum -= offset;
  (Sixteen::OfInts(ints) * Sixteen::Fill(means.factor) / Sixteen::Fill(divisor)).Store(means.steps, to);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_BYTE_SUMS_H_
