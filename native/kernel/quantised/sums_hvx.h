// Sums of one or two operands of bytes, each with a zero point and a factor, and products of two, by vectors of the
// DSP: conversions from one way of storing to another, additions, multiplications.
#ifndef LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
#define LATHE_KERNEL_QUANTISED_SUMS_HVX_H_

#include "native/kernel/quantised/requantise.h"
#include "native/kernel/quantised/requantise_hvx.h"

namespace lathe {
namespace {

constexpr int kHvxQuarters = kHvxBytes / kHvxLanes;

// A factor of few digits: halves are frequent, and all of them in doubt.
inline bool HasTies(float factor) {
  int32_t bits;
  memcpy(&bits, &factor, sizeof bits);
  return (bits & 0x7fff) == 0;
}

// The bytes of a vector as words, in order.
LATHE_INLINE void UnpackWords(HVX_Vector bytes, HVX_Vector (&words)[kHvxQuarters]) {
  const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(bytes);
  const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves)), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
  words[0] = Q6_V_lo_W(low);
  words[1] = Q6_V_hi_W(low);
  words[2] = Q6_V_lo_W(high);
  words[3] = Q6_V_hi_W(high);
}

// `Self` has `Mix(x, raised, least)`: what whole vectors of the operands give, as HvxStore has it.
template <int operands, typename Self>
class HvxMixture {
 public:
  // False where other ways are better.
  bool usable() const { return usable_; }

  // `count` results, which may take the place of an operand; `exact(operands, i)` is one as everywhere else. Operands
  // that do not move are one byte.
  template <typename Exact>
  void Run(const int8_t* const* from, const bool* moves, int64_t count, int8_t* to, const Exact& exact) const {
    const Self& self = *static_cast<const Self*>(this);
    const int whole = static_cast<int>(count / kHvxBytes) * kHvxBytes, rest = static_cast<int>(count) - whole;
    HVX_Vector x[operands], raised[kHvxQuarters];
    for (int k = 0; k < operands; ++k) x[k] = Q6_Vb_vsplat_R(*from[k]);
    for (int i = 0; i < whole; i += kHvxBytes) {
      for (int k = 0; k < operands; ++k) x[k] = moves[k] ? LoadAny(from[k] + i) : x[k];
      HVX_Vector least = HvxStore::NoDoubt();
      StoreAny(self.Mix(x, raised, &least), to + i);
      if (store_.InDoubt(least)) Mend(x, raised, kHvxBytes, to + i, exact);
    }
    if (rest == 0) return;
    for (int k = 0; k < operands; ++k) x[k] = moves[k] ? LoadFew(from[k] + whole, rest) : x[k];
    HVX_Vector least = HvxStore::NoDoubt();
    StoreFew(self.Mix(x, raised, &least), rest, to + whole);
    if (store_.InDoubt(least)) Mend(x, raised, rest, to + whole, exact);
  }

 protected:
  explicit HvxMixture(const HvxStore& store) : store_(store) {}

  HvxStore store_;
  bool usable_ = true;

 private:
  // What was written may be where an operand was.
  template <typename Exact>
  __attribute__((noinline)) void Mend(const HVX_Vector (&x)[operands], const HVX_Vector (&raised)[kHvxQuarters],
                                      int count, int8_t* to, const Exact& exact) const {
    const int8_t* places[operands];
    for (int k = 0; k < operands; ++k) places[k] = reinterpret_cast<const int8_t*>(x + k);
    store_.ForDoubts(raised, kHvxQuarters, 0, count, [&](int i) { to[i] = exact(places, i); });
  }
};

// Not usable for factors of few digits, and very large or small ones.
template <int operands>
class HvxSum : public HvxMixture<operands, HvxSum<operands>> {
 public:
  HvxSum(const int32_t* zeros, const float* factors, const Steps& steps)
      : HvxMixture<operands, HvxSum>(
            HvxStore(steps.zero, steps.low, steps.high, operands == 1 ? kDoubtOfWhole : kDoubtOfTwo)) {
    for (int i = 0; i < operands; ++i) {
      zeros_[i] = Q6_V_vsplat_R(zeros[i]);
      factors_[i].Read(factors[i]);
      this->usable_ = !HasTies(factors[i]) && this->usable_;
    }
  }

  LATHE_INLINE HVX_Vector Mix(const HVX_Vector (&x)[operands], HVX_Vector (&raised)[kHvxQuarters],
                              HVX_Vector* least) const {
    HVX_Vector numbers[kHvxQuarters], large[kHvxQuarters];
    const HVX_Vector most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      HVX_Vector words[kHvxQuarters];
      UnpackWords(x[k], words);
#pragma clang loop unroll(full)
      for (int n = 0; n < kHvxQuarters; ++n) {
        const HVX_Vector part = factors_[k].Times(Q6_Vw_vsub_VwVw(words[n], zeros_[k]));
        const HVX_Vector size = Q6_Vw_vabs_Vw(part);
        large[n] = k == 0 ? size : Q6_Vw_vmax_VwVw(large[n], size);
        numbers[n] = k == 0 ? part : Q6_Vw_vadd_VwVw_sat(numbers[n], part);
      }
    }
#pragma clang loop unroll(full)
    for (int n = 0; n < kHvxQuarters; ++n) {
      raised[n] = this->store_.Raise(numbers[n]);
      if constexpr (operands > 1)  // single precision has fewer digits for what is large
        raised[n] = HvxStore::Doubt(raised[n], Q6_Q_vcmp_gt_VwVw(large[n], most));
      *least = HvxStore::Least(*least, raised[n]);
    }
    return this->store_.Bytes(raised);
  }

 private:
  HVX_Vector zeros_[operands];
  HvxFactors factors_[operands];
};

// Of what is left of both when zero points are taken off, times one factor.
class HvxProduct : public HvxMixture<2, HvxProduct> {
 public:
  HvxProduct(const int32_t* zeros, const float* factors, const Steps& steps)
      : HvxMixture(HvxStore(steps.zero, steps.low, steps.high, kDoubtOfWhole)) {
    for (int i = 0; i < 2; ++i) zeros_[i] = Q6_Vh_vsplat_R(zeros[i]);
    factors_.Read(factors[0]);
    usable_ = !HasTies(factors[0]);
  }

  LATHE_INLINE HVX_Vector Mix(const HVX_Vector (&x)[2], HVX_Vector (&raised)[kHvxQuarters], HVX_Vector* least) const {
    const HVX_VectorPair first = Q6_Wh_vunpack_Vb(x[0]), second = Q6_Wh_vunpack_Vb(x[1]);
    const auto multiply = [this](HVX_Vector a, HVX_Vector b) __attribute__((always_inline)) {
      const HVX_VectorPair found = Q6_Ww_vmpy_VhVh(Q6_Vh_vsub_VhVh(a, zeros_[0]), Q6_Vh_vsub_VhVh(b, zeros_[1]));
      return Q6_W_vshuff_VVR(Q6_V_hi_W(found), Q6_V_lo_W(found), -4);  // they were those of even and odd places
    };
    const HVX_VectorPair low = multiply(Q6_V_lo_W(first), Q6_V_lo_W(second));
    const HVX_VectorPair high = multiply(Q6_V_hi_W(first), Q6_V_hi_W(second));
    const HVX_Vector products[kHvxQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
    for (int n = 0; n < kHvxQuarters; ++n) {
      raised[n] = store_.Raise(factors_.Times(products[n]));
      *least = HvxStore::Least(*least, raised[n]);
    }
    return store_.Bytes(raised);
  }

 private:
  HVX_Vector zeros_[2];
  HvxFactors factors_;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
