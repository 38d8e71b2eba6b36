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

// An operand. One that does not move is a byte; one of a period comes again after so many bytes, and a vector more than
// that can be read.
struct HvxOperand {
  const int8_t* from;
  bool moves;
  int period;  // at least a vector; 0: it comes once
};

// Words as products of halves give them, those of even and odd places apart, in order.
LATHE_INLINE void OrderWoven(const HVX_Vector (&woven)[kHvxQuarters], HVX_Vector (&ordered)[kHvxQuarters]) {
  for (int n = 0; n < kHvxQuarters; n += 2) {
    const HVX_VectorPair both = Q6_W_vshuff_VVR(woven[n + 1], woven[n], -4);
    ordered[n] = Q6_V_lo_W(both);
    ordered[n + 1] = Q6_V_hi_W(both);
  }
}

// What Raise gave for those as bytes.
LATHE_INLINE HVX_Vector WovenBytes(const HvxStore& store, const HVX_Vector (&raised)[kHvxQuarters]) {
  return store.Limited(Q6_Vh_vshuffo_VhVh(raised[1], raised[0]), Q6_Vh_vshuffo_VhVh(raised[3], raised[2]));
}

// `Self` has `Mix<wide>(x, raised, least)`: what whole vectors of the operands give, as HvxStore has it; `wide()`:
// which of both; and `Order(raised, ordered)`: the order of what that raised.
template <int operands, typename Self>
class HvxMixture {
 public:
  // False where other ways are better.
  bool usable() const { return usable_; }

  // `count` results, which may take the place of an operand; `exact(operands, i)` is one as everywhere else.
  template <typename Exact>
  void Run(const HvxOperand (&from)[operands], int64_t count, int8_t* to, const Exact& exact) const {
    if (static_cast<const Self*>(this)->wide()) {
      RunAs<true>(from, static_cast<int>(count), to, exact);
    } else {
      RunAs<false>(from, static_cast<int>(count), to, exact);
    }
  }

 protected:
  explicit HvxMixture(const HvxStore& store) : store_(store) {}

  HvxStore store_;
  bool usable_ = true;

 private:
  template <bool wide, typename Exact>
  __attribute__((noinline)) void RunAs(const HvxOperand (&from)[operands], int left, int8_t* to,
                                       const Exact& exact) const {
    const Self self = *static_cast<const Self*>(this);  // what is stored does not change the copy
    HVX_Vector single[operands];
    const int8_t* place[operands];
    int at[operands] = {}, period[operands];
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      single[k] = Q6_Vb_vsplat_R(*from[k].from);
      place[k] = from[k].moves ? from[k].from : reinterpret_cast<const int8_t*>(single + k);
      period[k] = !from[k].moves ? kHvxBytes : from[k].period > 0 ? from[k].period : INT32_MAX;
    }
    for (; left >= kHvxBytes; left -= kHvxBytes, to += kHvxBytes) {
      HVX_Vector x[operands], raised[kHvxQuarters], least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
      for (int k = 0; k < operands; ++k) {
        x[k] = LoadAny(place[k] + at[k]);
        at[k] += kHvxBytes;
        at[k] -= at[k] >= period[k] ? period[k] : 0;
      }
      StoreAny(self.template Mix<wide>(x, raised, &least), to);
      if (__builtin_expect(self.store_.InDoubt(least), 0)) MendCopy(x, raised, kHvxBytes, to, exact);
    }
    if (left == 0) return;
    HVX_Vector x[operands], raised[kHvxQuarters], least = HvxStore::NoDoubt();
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k)
      x[k] = period[k] == INT32_MAX ? LoadFew(place[k] + at[k], left) : LoadAny(place[k] + at[k]);
    StoreFew(self.template Mix<wide>(x, raised, &least), left, to);
    if (self.store_.InDoubt(least)) MendCopy(x, raised, left, to, exact);
  }

  // Of copies, so that the others stay in registers.
  template <typename Exact>
  LATHE_INLINE void MendCopy(const HVX_Vector (&x)[operands], const HVX_Vector (&raised)[kHvxQuarters], int count,
                             int8_t* to, const Exact& exact) const {
    HVX_Vector from[operands], numbers[kHvxQuarters];
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) from[k] = x[k];
#pragma clang loop unroll(full)
    for (int n = 0; n < kHvxQuarters; ++n) numbers[n] = raised[n];
    Mend(from, numbers, count, to, exact);
  }

  // What was written may be where an operand was.
  template <typename Exact>
  __attribute__((noinline)) void Mend(const HVX_Vector (&x)[operands], const HVX_Vector (&raised)[kHvxQuarters],
                                      int count, int8_t* to, const Exact& exact) const {
    const int8_t* places[operands];
    for (int k = 0; k < operands; ++k) places[k] = reinterpret_cast<const int8_t*>(x + k);
    HVX_Vector ordered[kHvxQuarters];
    static_cast<const Self*>(this)->Order(raised, ordered);
    store_.ForDoubts(ordered, kHvxQuarters, 0, count, [&](int i) { to[i] = exact(places, i); });
  }
};

// Not usable for factors of few digits, and very large or small ones.
//
// Factors below 2 are two numbers of 15 bits, so that products are those of halves, which take half of the time: what
// operands add is below 512, and nothing is lost in 32 bits.
template <int operands>
class HvxSum : public HvxMixture<operands, HvxSum<operands>> {
 public:
  HvxSum(const int32_t* zeros, const float* factors, const Steps& steps)
      : HvxMixture<operands, HvxSum>(
            HvxStore(steps.zero, steps.low, steps.high, operands == 1 ? kDoubtOfWhole : kDoubtOfTwo)) {
    for (int i = 0; i < operands; ++i) {
      constexpr float kUnit = 1 << (kDigits + kBehind);
      halves_ = halves_ && factors[i] < 2.0f && factors[i] > -2.0f;
      zeros_[i] = Q6_Vh_vsplat_R(zeros[i]);
      factors_[i].Read(factors[i]);
      const int whole = halves_ ? static_cast<int>(factors[i] * kUnit) : 0;
      high_[i] = Q6_Vh_vsplat_R(whole >> kLow);
      low_[i] = Q6_Vh_vsplat_R(whole & ((1 << kLow) - 1));
      this->usable_ = !HasTies(factors[i]) && this->usable_;
    }
    for (int i = 0; i < operands; ++i) this->usable_ = this->usable_ && (halves_ || factors[i] > 0.0f);
  }

  bool wide() const { return !halves_; }

  template <bool wide>
  LATHE_INLINE HVX_Vector Mix(const HVX_Vector (&x)[operands], HVX_Vector (&raised)[kHvxQuarters],
                              HVX_Vector* least) const {
    HVX_VectorPair halves[operands];
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      const HVX_VectorPair unpacked = Q6_Wh_vunpack_Vb(x[k]), zero = Q6_W_vcombine_VV(zeros_[k], zeros_[k]);
      halves[k] = Q6_Wh_vsub_WhWh(unpacked, zero);
    }
    if constexpr (wide) return MixWords(halves, raised, least);
    MixHalves(halves, raised, least);
    return WovenBytes(this->store_, raised);
  }

  void Order(const HVX_Vector (&raised)[kHvxQuarters], HVX_Vector (&ordered)[kHvxQuarters]) const {
    if (halves_) return OrderWoven(raised, ordered);
    for (int n = 0; n < kHvxQuarters; ++n) ordered[n] = raised[n];
  }

 private:
  static constexpr int kBehind = 13, kLow = 15;  // digits of factors behind those of sums, and of their lower part

  LATHE_INLINE void MixHalves(const HVX_VectorPair (&x)[operands], HVX_Vector (&raised)[kHvxQuarters],
                              HVX_Vector* least) const {
#pragma clang loop unroll(full)
    for (int n = 0; n < kHvxQuarters; n += 2) {
      HVX_VectorPair high = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero()), low = high;
#pragma clang loop unroll(full)
      for (int k = 0; k < operands; ++k) {
        const HVX_Vector half = n == 0 ? Q6_V_lo_W(x[k]) : Q6_V_hi_W(x[k]);
        high = k == 0 ? Q6_Ww_vmpy_VhVh(half, high_[k]) : Q6_Ww_vmpyacc_WwVhVh(high, half, high_[k]);
        low = k == 0 ? Q6_Ww_vmpy_VhVh(half, low_[k]) : Q6_Ww_vmpyacc_WwVhVh(low, half, low_[k]);
      }
      const HVX_Vector added = this->store_.added;
      const HVX_Vector even = Q6_Vw_vaslacc_VwVwR(added, Q6_V_lo_W(high), kLow - kBehind);
      const HVX_Vector odd = Q6_Vw_vaslacc_VwVwR(added, Q6_V_hi_W(high), kLow - kBehind);
      raised[n] = Q6_Vw_vasracc_VwVwR(even, Q6_V_lo_W(low), kBehind);
      raised[n + 1] = Q6_Vw_vasracc_VwVwR(odd, Q6_V_hi_W(low), kBehind);
      *least = HvxStore::Least(HvxStore::Least(*least, raised[n]), raised[n + 1]);
    }
  }

  LATHE_INLINE HVX_Vector MixWords(const HVX_VectorPair (&x)[operands], HVX_Vector (&raised)[kHvxQuarters],
                                   HVX_Vector* least) const {
    HVX_Vector numbers[kHvxQuarters], large[kHvxQuarters];
    const HVX_Vector most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(x[k])), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(x[k]));
      const HVX_Vector words[kHvxQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
      for (int n = 0; n < kHvxQuarters; ++n) {
        const HVX_Vector part = factors_[k].Times(words[n]);
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

  bool halves_ = true;
  HVX_Vector zeros_[operands], high_[operands], low_[operands];
  HvxFactors factors_[operands];
};

// Not usable for factors from 2 on either.
class HvxDifference : public HvxSum<2> {
 public:
  HvxDifference(const int32_t* zeros, const float* factors, const Steps& steps)
      : HvxDifference(zeros, factors[0], -factors[1], steps) {}

 private:
  struct Factors {
    float both[2];
  };
  HvxDifference(const int32_t* zeros, float first, float second, const Steps& steps)
      : HvxSum(zeros, Factors{{first, second}}.both, steps) {}
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

  static constexpr bool wide() { return false; }

  template <bool>
  LATHE_INLINE HVX_Vector Mix(const HVX_Vector (&x)[2], HVX_Vector (&raised)[kHvxQuarters], HVX_Vector* least) const {
    const HVX_VectorPair first = Q6_Wh_vunpack_Vb(x[0]), second = Q6_Wh_vunpack_Vb(x[1]);
    const auto multiply = [this](HVX_Vector a, HVX_Vector b) __attribute__((always_inline)) {
      return Q6_Ww_vmpy_VhVh(Q6_Vh_vsub_VhVh(a, zeros_[0]), Q6_Vh_vsub_VhVh(b, zeros_[1]));
    };
    const HVX_VectorPair low = multiply(Q6_V_lo_W(first), Q6_V_lo_W(second));
    const HVX_VectorPair high = multiply(Q6_V_hi_W(first), Q6_V_hi_W(second));
    const HVX_Vector products[kHvxQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
    for (int n = 0; n < kHvxQuarters; ++n) {
      raised[n] = store_.Raise(factors_.Times(products[n]));
      *least = HvxStore::Least(*least, raised[n]);
    }
    return WovenBytes(store_, raised);
  }

  void Order(const HVX_Vector (&raised)[kHvxQuarters], HVX_Vector (&ordered)[kHvxQuarters]) const {
    OrderWoven(raised, ordered);
  }

 private:
  HVX_Vector zeros_[2];
  HvxFactors factors_;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
