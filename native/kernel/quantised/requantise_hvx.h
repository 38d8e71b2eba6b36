// Sums as bytes, by vectors of integers: the DSP's have no floating-point numbers.
//
// A factor is M * 2^e with M in [1, 2), and a sum times it is computed with 16 binary digits behind the point, rounded
// down. Single precision, which all other instruction sets use, differs by a few units of the last digit at most. Where
// that may decide the rounding (the digits are nearly one half), the number is computed again as everywhere else.
#ifndef LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_
#define LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <string.h>

#include "native/kernel/quantised/fixed_factor.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int kHvxLanes = 32;  // sums of a vector
constexpr int kHvxBytes = 128;

// By how much single precision may differ, in units of the last digit: `above` and `below` what vectors compute.
struct HvxDoubt {
  int above;
  int below;
};

// A product below 256 is half a unit off at most, and what vectors compute up to a unit too low.
constexpr HvxDoubt kDoubtOfWhole = {2, 1};  // sums that single precision has whole
constexpr HvxDoubt kDoubtOfOne = {4, 3};    // any sums: each rounding adds a unit
constexpr HvxDoubt kDoubtOfTwo = {11, 9};   // two of them added up, where both are below 512

// Unaligned vectors of memory.
LATHE_INLINE HVX_Vector LoadAny(const void* from) { return *static_cast<const HVX_UVector*>(from); }
LATHE_INLINE void StoreAny(HVX_Vector vector, void* to) { *static_cast<HVX_UVector*>(to) = vector; }

// Up to a vector of bytes from any address; those behind them are anything. Only whole vectors that hold one of them
// are read, so that nothing is that is not there.
LATHE_INLINE HVX_Vector LoadFew(const void* from, int count) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(from), mask = ~static_cast<uintptr_t>(kHvxBytes - 1);
  const HVX_Vector low = *reinterpret_cast<const HVX_Vector*>(place & mask);
  const HVX_Vector high = *reinterpret_cast<const HVX_Vector*>((place + static_cast<unsigned>(count) - 1) & mask);
  return Q6_V_valign_VVR(high, low, static_cast<int>(place));
}

// The first bytes of a vector, fewer than it has, to any address; nothing else is written.
LATHE_INLINE void StoreFew(HVX_Vector bytes, int count, int8_t* to) {
  const int offset = static_cast<int>(reinterpret_cast<uintptr_t>(to) % kHvxBytes);
  auto* place = reinterpret_cast<HVX_Vector*>(to - offset);
  const HVX_Vector turned = Q6_V_vror_VR(bytes, kHvxBytes - offset);
  const int end = offset + count;
  const HVX_VectorPred before = Q6_Q_vsetq_R(offset);  // none where the offset is 0
  if (end <= kHvxBytes) {
    Q6_vmem_QRIV(Q6_Q_and_QQn(Q6_Q_vsetq2_R(end), before), place, turned);
    return;
  }
  Q6_vmem_QnRIV(before, place, turned);
  Q6_vmem_QRIV(Q6_Q_vsetq_R(end - kHvxBytes), place + 1, turned);
}

// Up to a whole vector.
LATHE_INLINE void StoreBytes(HVX_Vector bytes, int count, int8_t* to) {
  if (count == kHvxBytes) {
    StoreAny(bytes, to);
  } else {
    StoreFew(bytes, count, to);
  }
}

// The factors of 32 outputs: what sums are shifted by and multiplied with.
struct HvxFactors {
  HVX_Vector shift, mantissa;

  LATHE_INLINE void Read(float factor) {
    int32_t shifts, mantissas;
    SplitFactor(factor, &shifts, &mantissas);
    shift = Q6_V_vsplat_R(shifts);
    mantissa = Q6_V_vsplat_R(mantissas);
  }

  // Of what SplitFactor gave.
  LATHE_INLINE void Load(const int32_t* shifts, const int32_t* mantissas) {
    shift = LoadAny(shifts);
    mantissa = LoadAny(mantissas);
  }

  // Sums times factors, with kDigits behind the point, where the shift leaves their digits.
  LATHE_INLINE HVX_Vector TimesSmall(HVX_Vector sums) const { return Product(Q6_Vw_vasl_VwVw(sums, shift)); }

  LATHE_INLINE HVX_Vector Product(HVX_Vector shifted) const {
    return Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift(Q6_Vw_vmpye_VwVuh(shifted, mantissa), shifted, mantissa);
  }

  // What is too large for that is as large as can be.
  LATHE_INLINE HVX_Vector Times(HVX_Vector sums) const {
    const HVX_Vector most = Q6_Vw_vasr_VwVw(Q6_V_vsplat_R(INT32_MAX), shift);
    return TimesSmall(Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(sums, most), Q6_V_vnot_V(most)));
  }
};

// What is the same for all outputs of a tile.
struct HvxStore {
  HVX_Vector added;      // zero point, one half and what single precision may differ by, kDigits behind the point
  HVX_Vector window;     // digits below it are in doubt
  HVX_Vector low, high;  // bytes

  // `least` and `most` limit steps, zero point not added.
  HvxStore(int32_t zero_point, float least, float most, HvxDoubt doubt = kDoubtOfOne) {
    const int units = (1 << (kDigits - 1)) + doubt.above;
    added = Q6_V_vsplat_R(static_cast<int32_t>(static_cast<uint32_t>(zero_point) << kDigits) + units);
    window = Q6_V_vsplat_R(doubt.above + doubt.below);
    low = Q6_Vb_vsplat_R(Quantised<int8_t>(least, zero_point));
    high = Q6_Vb_vsplat_R(Quantised<int8_t>(most, zero_point));
  }

  LATHE_INLINE static HVX_Vector NoDoubt() { return Q6_V_vsplat_R(-1); }

  // Steps are in front of the point afterwards.
  LATHE_INLINE HVX_Vector Raise(HVX_Vector numbers) const { return Q6_Vw_vadd_VwVw_sat(numbers, added); }

  // Up to four vectors of what Raise gave as bytes, in order.
  template <int vectors>
  LATHE_INLINE HVX_Vector Bytes(const HVX_Vector (&raised)[vectors]) const {
    const HVX_Vector first = Q6_Vh_vpacko_VwVw(raised[vectors > 1 ? 1 : 0], raised[0]);
    HVX_Vector second = first;
    if constexpr (vectors > 2) second = Q6_Vh_vpacko_VwVw(raised[vectors - 1], raised[2]);
    return Limited(first, second);
  }

  // Two vectors of steps as bytes.
  LATHE_INLINE HVX_Vector Limited(HVX_Vector first, HVX_Vector second) const {
    return Q6_Vb_vmax_VbVb(Q6_Vb_vmin_VbVb(Q6_Vb_vpack_VhVh_sat(second, first), high), low);
  }

  // The digits are the least of both; what stands in front of them means nothing.
  LATHE_INLINE static HVX_Vector Least(HVX_Vector least, HVX_Vector raised) {
    return Q6_Vuh_vmin_VuhVuh(least, raised);
  }

  // What Raise gave, in doubt where `large` is set: digits of 0 are.
  LATHE_INLINE static HVX_Vector Doubt(HVX_Vector raised, HVX_VectorPred large) {
    const HVX_Vector cut = Q6_V_vand_VV(raised, Q6_V_vsplat_R(static_cast<int32_t>(0xffffffffU << kDigits)));
    return Q6_V_vmux_QVV(large, cut, raised);
  }

  // Whether rounding the other way may be right.
  LATHE_INLINE bool InDoubt(HVX_Vector least) const {
    const HVX_Vector counts = Q6_Vw_prefixsum_Q(Q6_Q_vcmp_gt_VuhVuh(window, least));
    return Q6_R_vextract_VR(counts, kHvxBytes - 4) != 0;
  }

  // `exact(j)` for each of the bytes, of up to four vectors that Raise gave, that are in doubt.
  template <typename Exact>
  LATHE_INLINE void ForDoubts(const HVX_Vector* raised, int vectors, int begin, int end, const Exact& exact) const {
    alignas(kHvxBytes) HVX_Vector flags[4];
    for (int n = 0; n < 4; ++n) {
      const HVX_Vector digits = Q6_V_vand_VV(raised[n < vectors ? n : 0], Q6_V_vsplat_R((1 << kDigits) - 1));
      flags[n] = Q6_V_vand_QR(Q6_Q_vcmp_gt_VuhVuh(window, digits), 1);
      flags[n] = Q6_V_vand_VV(flags[n], Q6_V_vsplat_R(1));
    }
    const HVX_Vector packed =
        Q6_Vb_vpacke_VhVh(Q6_Vh_vpacke_VwVw(flags[3], flags[2]), Q6_Vh_vpacke_VwVw(flags[1], flags[0]));
    alignas(kHvxBytes) uint64_t eights[kHvxBytes / 8];
    *reinterpret_cast<HVX_Vector*>(eights) = packed;
    for (int i = 0; i < kHvxBytes / 8; ++i) {
      for (uint64_t rest = eights[i]; rest != 0; rest &= rest - 1) {
        const int j = 8 * i + __builtin_ctzll(rest) / 8;
        if (j >= begin && j < end) exact(j);
      }
    }
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_
