// Sums of one or two operands of bytes, each with a zero point and a factor, by vectors of the DSP: conversions from
// one way of storing to another, and additions.
#ifndef LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
#define LATHE_KERNEL_QUANTISED_SUMS_HVX_H_

#include "native/kernel/quantised/requantise.h"
#include "native/kernel/quantised/requantise_hvx.h"

namespace lathe {
namespace {

template <int operands>
class HvxSum {
 public:
  HvxSum(const int32_t* zeros, const float* factors, const Steps& steps)
      : store_(steps.zero, steps.low, steps.high, operands == 1 ? kDoubtOfWhole : kDoubtOfTwo) {
    for (int i = 0; i < operands; ++i) {
      zeros_[i] = Q6_V_vsplat_R(zeros[i]);
      int32_t bits;
      memcpy(&bits, factors + i, sizeof bits);
      const bool has_ties =
          (bits & 0x7fff) == 0;  // factors of few digits: halves are frequent, and all of them in doubt
      factors_[i].Read(factors[i]);
      usable_ = !has_ties && usable_;
    }
  }

  // False where other ways are better: factors of few digits, and very large or small ones.
  bool usable() const { return usable_; }

  // `count` results, which may take the place of an operand; `exact(operands, i)` is one as everywhere else.
  template <typename Exact>
  void Run(const int8_t* const* from, int64_t count, int8_t* to, const Exact& exact) const {
    const int whole = static_cast<int>(count / kHvxBytes) * kHvxBytes, rest = static_cast<int>(count) - whole;
    HVX_Vector x[operands], raised[kQuarters];
    for (int i = 0; i < whole; i += kHvxBytes) {
      for (int k = 0; k < operands; ++k) x[k] = LoadAny(from[k] + i);
      HVX_Vector least = HvxStore::NoDoubt();
      StoreAny(Sum(x, raised, &least), to + i);
      if (store_.InDoubt(least)) Mend(x, raised, kHvxBytes, to + i, exact);
    }
    if (rest == 0) return;
    for (int k = 0; k < operands; ++k) x[k] = LoadFew(from[k] + whole, rest);
    HVX_Vector least = HvxStore::NoDoubt();
    StoreFew(Sum(x, raised, &least), rest, to + whole);
    if (store_.InDoubt(least)) Mend(x, raised, rest, to + whole, exact);
  }

 private:
  static constexpr int kQuarters = kHvxBytes / kHvxLanes;

  LATHE_INLINE HVX_Vector Sum(const HVX_Vector (&x)[operands], HVX_Vector (&raised)[kQuarters],
                              HVX_Vector* least) const {
    HVX_Vector numbers[kQuarters], large[kQuarters];
    const HVX_Vector most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(x[k]);
      const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves)), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
      const HVX_Vector words[kQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
      for (int n = 0; n < kQuarters; ++n) {
        const HVX_Vector part = factors_[k].Times(Q6_Vw_vsub_VwVw(words[n], zeros_[k]));
        const HVX_Vector size = Q6_Vw_vabs_Vw(part);
        large[n] = k == 0 ? size : Q6_Vw_vmax_VwVw(large[n], size);
        numbers[n] = k == 0 ? part : Q6_Vw_vadd_VwVw_sat(numbers[n], part);
      }
    }
#pragma clang loop unroll(full)
    for (int n = 0; n < kQuarters; ++n) {
      raised[n] = store_.Raise(numbers[n]);
      if constexpr (operands > 1)  // single precision has fewer digits for what is large
        raised[n] = HvxStore::Doubt(raised[n], Q6_Q_vcmp_gt_VwVw(large[n], most));
      *least = HvxStore::Least(*least, raised[n]);
    }
    return store_.Bytes(raised);
  }

  // What was written may be where an operand was.
  template <typename Exact>
  __attribute__((noinline)) void Mend(const HVX_Vector (&x)[operands], const HVX_Vector (&raised)[kQuarters], int count,
                                      int8_t* to, const Exact& exact) const {
    const int8_t* places[operands];
    for (int k = 0; k < operands; ++k) places[k] = reinterpret_cast<const int8_t*>(x + k);
    store_.ForDoubts(raised, kQuarters, 0, count, [&](int i) { to[i] = exact(places, i); });
  }

  HVX_Vector zeros_[operands];
  HvxFactors factors_[operands];
  HvxStore store_;
  bool usable_ = true;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
