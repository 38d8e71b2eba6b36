// One sum as it is stored: see byte_state.h.
#ifndef LATHE_KERNEL_GEMM_BYTE_STORE_PORTABLE_H_
#define LATHE_KERNEL_GEMM_BYTE_STORE_PORTABLE_H_

#include "native/kernel/gemm/byte_state.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

// A sum of products, to which its start is added. `residual` may be null.
inline int8_t RequantisedSum(const BytePanelState& state, uint32_t sum, int64_t output, const int8_t* residual) {
  const int32_t total = static_cast<int32_t>(sum + static_cast<uint32_t>(state.starts[output]));
  float value = static_cast<float>(total) * state.factors[output];
  if (residual != nullptr) value += static_cast<float>(*residual - state.residual_zero) * state.residual_factor;
  value = value < state.high ? value : state.high;
  value = value > state.low ? value : state.low;
  return Quantised<int8_t>(value, state.y_zero);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STORE_PORTABLE_H_
