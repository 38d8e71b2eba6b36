// Sums as bytes, by vectors of integers: the DSP's have no floating-point numbers.
//
// A factor is M * 2^e with M in [1, 2), and a sum times it is computed with 18 binary digits behind the point. Single
// precision, which all other instruction sets use, differs by a few units of the last digit at most. Where that may
// decide the rounding (the digits are nearly one half), the number is computed again as everywhere else.
#ifndef LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_
#define LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <string.h>

#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int kHvxLanes = 32;    // sums of a vector
constexpr int kDigits = 18;      // behind the point
constexpr int kUnits = 12;       // of the last digit: the most that a sum times a factor may differ
constexpr int kUnitsOfTwo = 32;  // two of them added up, where both are below 512

// Unaligned vectors of memory.
LATHE_INLINE HVX_Vector LoadAny(const void* from) { return *static_cast<const HVX_UVector*>(from); }
LATHE_INLINE void StoreAny(HVX_Vector vector, void* to) { *static_cast<HVX_UVector*>(to) = vector; }

// The first bytes of a vector, fewer than it has, to any address; nothing else is written.
LATHE_INLINE void StoreFew(HVX_Vector bytes, int count, int8_t* to) {
  constexpr int kVector = 128;
  const int offset = static_cast<int>(reinterpret_cast<uintptr_t>(to) % kVector);
  auto* place = reinterpret_cast<HVX_Vector*>(to - offset);
  const HVX_Vector turned = Q6_V_vror_VR(bytes, kVector - offset);
  const int end = offset + count;
  const HVX_VectorPred before = Q6_Q_vsetq_R(offset);  // none where the offset is 0
  if (end <= kVector) {
    Q6_vmem_QRIV(Q6_Q_and_QQn(Q6_Q_vsetq2_R(end), before), place, turned);
    return;
  }
  Q6_vmem_QnRIV(before, place, turned);
  Q6_vmem_QRIV(Q6_Q_vsetq_R(end - kVector), place + 1, turned);
}

// The factors of 32 outputs: what sums are limited to, shifted by and multiplied with.
struct HvxFactors {
  HVX_Vector most, shift, mantissa;

  // False where the exponents are too large or too small for 32 bits.
  LATHE_INLINE bool Read(const float* factors, int count) {
    alignas(128) int32_t shifts[kHvxLanes], mantissas[kHvxLanes];
    for (int i = 0; i < kHvxLanes; ++i) {
      if (!Split(factors[i < count ? i : 0], &shifts[i], &mantissas[i])) return false;
    }
    Set(*reinterpret_cast<const HVX_Vector*>(shifts), *reinterpret_cast<const HVX_Vector*>(mantissas));
    return true;
  }

  LATHE_INLINE void Set(HVX_Vector shifts, HVX_Vector mantissas) {
    shift = shifts;
    mantissa = mantissas;
    most = Q6_Vw_vasr_VwVw(Q6_V_vsplat_R(INT32_MAX), shift);
  }

  // Shift and mantissa of a factor; false as above.
  static bool Split(float factor, int32_t* shift, int32_t* mantissa) {
    constexpr int kLeast = -kDigits, kMost = 11;
    int32_t bits;
    memcpy(&bits, &factor, sizeof bits);
    const int exponent = (bits >> 23) - 127;
    *shift = kDigits + 1 + exponent;
    *mantissa = ((bits & 0x7fffff) | 0x800000) << 7;
    return exponent >= kLeast && exponent <= kMost;
  }

  // Sums times factors, with kDigits behind the point; what is too large for that is as large as can be.
  LATHE_INLINE HVX_Vector Times(HVX_Vector sums) const {
    const HVX_Vector limited = Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(sums, most), Q6_V_vnot_V(most));
    const HVX_Vector shifted = Q6_Vw_vasl_VwVw(limited, shift);
    return Q6_Vw_vmpyoacc_VwVwVh_s1_sat_shift(Q6_Vw_vmpye_VwVuh(shifted, mantissa), shifted, mantissa);
  }
};

// What is the same for all outputs of a tile.
struct HvxStore {
  HVX_Vector zero, half, doubt, twice, mask;
  HVX_Vector low, high;  // bytes

  // `least` and `most` limit steps, zero point not added. `units`: by how much numbers may differ from those of single
  // precision, in the last digit.
  HvxStore(int32_t zero_point, float least, float most, int units = kUnits) {
    zero = Q6_V_vsplat_R(zero_point);
    half = Q6_V_vsplat_R(1 << (kDigits - 1));
    doubt = Q6_V_vsplat_R(units);
    twice = Q6_V_vsplat_R(2 * units);
    mask = Q6_V_vsplat_R((1 << kDigits) - 1);
    low = Q6_Vb_vsplat_R(Quantised<int8_t>(least, zero_point));
    high = Q6_Vb_vsplat_R(Quantised<int8_t>(most, zero_point));
  }

  // Rounded, zero point added; `doubts` gets `flag` where rounding the other way may be right.
  LATHE_INLINE HVX_Vector Round(HVX_Vector numbers, int flag, HVX_Vector* doubts) const {
    const HVX_Vector raised = Q6_Vw_vadd_VwVw_sat(numbers, half);
    const HVX_Vector digits = Q6_V_vand_VV(Q6_Vw_vadd_VwVw(raised, doubt), mask);
    *doubts = Q6_V_vandor_VQR(*doubts, Q6_Q_vcmp_gt_VuwVuw(twice, digits), flag);
    return Q6_Vw_vadd_VwVw(Q6_Vw_vasr_VwR(raised, kDigits), zero);
  }

  // Up to four vectors of steps as bytes, in order.
  template <int vectors>
  LATHE_INLINE HVX_Vector Bytes(const HVX_Vector (&steps)[vectors]) const {
    const HVX_Vector first = Q6_Vh_vpack_VwVw_sat(steps[vectors > 1 ? 1 : 0], steps[0]);
    HVX_Vector second = first;
    if constexpr (vectors > 2) second = Q6_Vh_vpack_VwVw_sat(steps[vectors - 1], steps[2]);
    return Q6_Vb_vmax_VbVb(Q6_Vb_vmin_VbVb(Q6_Vb_vpack_VhVh_sat(second, first), high), low);
  }
};

LATHE_INLINE bool AnyFlag(HVX_Vector flags) {
  for (int bytes = 64; bytes >= 4; bytes /= 2) flags = Q6_V_vor_VV(flags, Q6_V_vror_VR(flags, bytes));
  return Q6_R_vextract_VR(flags, 0) != 0;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_QUANTISED_REQUANTISE_HVX_H_
