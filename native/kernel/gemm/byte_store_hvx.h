// Sums of byte_panels.h as they are stored, by vectors of integers: the DSP's have no floating-point numbers.
//
// A factor is M * 2^e with M in [1, 2), and a sum times it is computed with 18 binary digits behind the point. Single
// precision, which all other instruction sets use, differs by a few units of the last digit at most. Where that may
// decide the rounding (the digits are nearly one half), the number is computed again as everywhere else.
#ifndef LATHE_KERNEL_GEMM_BYTE_STORE_HVX_H_
#define LATHE_KERNEL_GEMM_BYTE_STORE_HVX_H_

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <string.h>

#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

constexpr int kHvxLanes = 32;  // sums of a vector
constexpr int kDigits = 18;    // behind the point

// Unaligned vectors of memory.
struct __attribute__((packed, aligned(1), may_alias)) AnyVector {
  HVX_UVector vector;
};
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

// One sum as it is stored: as byte_panels__portable.cc does it.
inline int8_t StoredSum(const BytePanelState& state, int32_t sum, int64_t output, const int8_t* residual) {
  float value = static_cast<float>(sum) * state.factors[output];
  if (residual != nullptr) value += static_cast<float>(*residual - state.residual_zero) * state.residual_factor;
  value = value < state.high ? value : state.high;
  value = value > state.low ? value : state.low;
  return Quantised<int8_t>(value, state.y_zero);
}

// The factors of 32 outputs: what sums are limited to, shifted by and multiplied with.
struct HvxFactors {
  HVX_Vector most, shift, mantissa;

  // False where the exponents are too large or too small for 32 bits.
  LATHE_INLINE bool Read(const float* factors, int count) {
    constexpr int kLeast = -kDigits, kMost = 11;
    alignas(128) int32_t shifts[kHvxLanes], mantissas[kHvxLanes];
    for (int i = 0; i < kHvxLanes; ++i) {
      int32_t bits;
      memcpy(&bits, factors + (i < count ? i : 0), sizeof bits);
      const int exponent = (bits >> 23) - 127;
      if (exponent < kLeast || exponent > kMost) return false;
      shifts[i] = kDigits + 1 + exponent;
      mantissas[i] = ((bits & 0x7fffff) | 0x800000) << 7;
    }
    shift = *reinterpret_cast<const HVX_Vector*>(shifts);
    mantissa = *reinterpret_cast<const HVX_Vector*>(mantissas);
    most = Q6_Vw_vasr_VwVw(Q6_V_vsplat_R(INT32_MAX), shift);
    return true;
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

  explicit HvxStore(const BytePanelState& state) {
    constexpr int kDoubt = 12;  // units of the last digit
    zero = Q6_V_vsplat_R(state.y_zero);
    half = Q6_V_vsplat_R(1 << (kDigits - 1));
    doubt = Q6_V_vsplat_R(kDoubt);
    twice = Q6_V_vsplat_R(2 * kDoubt);
    mask = Q6_V_vsplat_R((1 << kDigits) - 1);
    low = Q6_Vb_vsplat_R(Quantised<int8_t>(state.low, state.y_zero));
    high = Q6_Vb_vsplat_R(Quantised<int8_t>(state.high, state.y_zero));
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

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STORE_HVX_H_
