// Four sums in steps of y, in WebAssembly: see byte_state.h.
#ifndef LATHE_KERNEL_GEMM_BYTE_STORE_SIMD128_H_
#define LATHE_KERNEL_GEMM_BYTE_STORE_SIMD128_H_

#include <wasm_simd128.h>

#include "native/kernel/gemm/byte_state.h"

namespace lathe {
namespace {

// Of outputs from `channel`; `residual` may be null. See RequantisedSum in byte_store_portable.h.
LATHE_INLINE v128_t StepsOf(const BytePanelState& state, v128_t sum, int64_t channel, const int8_t* residual) {
  sum = wasm_i32x4_add(sum, wasm_v128_load(state.starts + channel));
  v128_t value = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sum), wasm_v128_load(state.factors + channel));
  if (residual != nullptr) {
    const v128_t words = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(residual));
    const v128_t steps = wasm_i32x4_sub(wasm_i32x4_extend_low_i16x8(words), wasm_i32x4_splat(state.residual_zero));
    value =
        wasm_f32x4_add(value, wasm_f32x4_mul(wasm_f32x4_convert_i32x4(steps), wasm_f32x4_splat(state.residual_factor)));
  }
  value = wasm_f32x4_pmin(wasm_f32x4_splat(state.high), value);
  value = wasm_f32x4_pmax(wasm_f32x4_splat(state.low), value);
  // Adding 1.5 * 2^23 leaves the nearest integer in the lowest bits.
  const v128_t whole = wasm_f32x4_add(value, wasm_f32x4_const_splat(12582912.0f));
  return wasm_i32x4_add(whole, wasm_i32x4_splat(state.y_zero - 0x4b400000));
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STORE_SIMD128_H_
