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
      : store_(steps.zero, steps.low, steps.high, operands == 1 ? kUnits : kUnitsOfTwo) {
    for (int i = 0; i < operands; ++i) {
      zeros_[i] = Q6_V_vsplat_R(zeros[i]);
      int32_t bits;
      memcpy(&bits, factors + i, sizeof bits);
      const bool has_ties =
          (bits & 0x7fff) == 0;  // factors of few digits: halves are frequent, and all of them in doubt
      usable_ = factors_[i].Read(factors + i, 1) && !has_ties && usable_;
    }
  }

  // False where other ways are better: factors of few digits, and very large or small ones.
  bool usable() const { return usable_; }

  // `count` results, which may take the place of an operand; `exact(operands, i)` is one as everywhere else.
  template <typename Exact>
  void Run(const int8_t* const* from, int64_t count, int8_t* to, const Exact& exact) const {
    int64_t i = 0;
    for (; i + kBytes <= count; i += kBytes) {
      HVX_Vector x[operands];
      for (int k = 0; k < operands; ++k) x[k] = LoadAny(from[k] + i);
      HVX_Vector doubts = Q6_V_vzero();
      StoreAny(Sum(x, &doubts), to + i);
      if (AnyFlag(doubts)) Mend(x, doubts, kBytes, to + i, exact);
    }
    if (i == count) return;
    const int rest = static_cast<int>(count - i);  // nothing behind an operand is read
    HVX_Vector x[operands];
    for (int k = 0; k < operands; ++k) {
      alignas(kBytes) int8_t few[kBytes] = {};
      memcpy(few, from[k] + i, static_cast<size_t>(rest));
      x[k] = *reinterpret_cast<const HVX_Vector*>(few);
    }
    HVX_Vector doubts = Q6_V_vzero();
    StoreFew(Sum(x, &doubts), rest, to + i);
    if (AnyFlag(doubts)) Mend(x, doubts, rest, to + i, exact);
  }

 private:
  static constexpr int kBytes = 128;
  static constexpr int kQuarters = kBytes / kHvxLanes;

  // Bit n of a lane of `doubts` is the n-th quarter's.
  LATHE_INLINE HVX_Vector Sum(const HVX_Vector (&x)[operands], HVX_Vector* doubts) const {
    HVX_Vector numbers[kQuarters], steps[kQuarters];
    const HVX_Vector most = Q6_V_vsplat_R(512 << kDigits);
#pragma clang loop unroll(full)
    for (int k = 0; k < operands; ++k) {
      const HVX_VectorPair halves = Q6_Wh_vunpack_Vb(x[k]);
      const HVX_VectorPair low = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves)), high = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
      const HVX_Vector words[kQuarters] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma clang loop unroll(full)
      for (int n = 0; n < kQuarters; ++n) {
        const HVX_Vector part = factors_[k].Times(Q6_Vw_vsub_VwVw(words[n], zeros_[k]));
        if constexpr (operands > 1)  // single precision has fewer digits for what is large
          *doubts = Q6_V_vandor_VQR(*doubts, Q6_Q_vcmp_gt_VwVw(Q6_Vw_vabs_Vw(part), most), 1 << n);
        numbers[n] = k == 0 ? part : Q6_Vw_vadd_VwVw_sat(numbers[n], part);
      }
    }
#pragma clang loop unroll(full)
    for (int n = 0; n < kQuarters; ++n) steps[n] = store_.Round(numbers[n], 1 << n, doubts);
    return store_.Bytes(steps);
  }

  // What was written may be where an operand was.
  template <typename Exact>
  static void Mend(const HVX_Vector (&x)[operands], HVX_Vector doubts, int count, int8_t* to, const Exact& exact) {
    alignas(kBytes) int8_t kept[operands][kBytes];
    alignas(kBytes) uint32_t flags[kHvxLanes];
    const int8_t* places[operands];
    for (int k = 0; k < operands; ++k) {
      *reinterpret_cast<HVX_Vector*>(kept[k]) = x[k];
      places[k] = kept[k];
    }
    *reinterpret_cast<HVX_Vector*>(flags) = doubts;
    for (int i = 0; i < count; ++i) {
      if ((flags[i % kHvxLanes] >> (i / kHvxLanes) & 1) != 0) to[i] = exact(places, i);
    }
  }

  HVX_Vector zeros_[operands];
  HvxFactors factors_[operands];
  HvxStore store_;
  bool usable_ = true;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_SUMS_HVX_H_
