// Eight sums of products as they are stored: see byte_state.h.
#ifndef LATHE_KERNEL_GEMM_EIGHT_RESULTS_H_
#define LATHE_KERNEL_GEMM_EIGHT_RESULTS_H_

#include "native/kernel/simd/words.h"

#if defined(LATHE_ISA_SIMD128)
#include "native/kernel/gemm/byte_store_simd128.h"
#else
#include "native/kernel/gemm/byte_store_portable.h"
#endif

namespace lathe {
namespace {

// Of outputs from `channel`, one after the other. `residual` may be null.
class EightResults {
 public:
  EightResults(const BytePanelState& state, int64_t channel) : state_(state), channel_(channel) {}

  LATHE_INLINE void Store(const Sums (&sums)[2], const int8_t* residual, int8_t* to) const {
#if defined(LATHE_ISA_SIMD128)
    v128_t steps[2];
    for (int i = 0; i < 2; ++i)
      steps[i] = StepsOf(state_, sums[i].v, channel_ + 4 * i, residual == nullptr ? nullptr : residual + 4 * i);
    const v128_t words = wasm_i16x8_narrow_i32x4(steps[0], steps[1]);
    wasm_v128_store64_lane(to, wasm_i8x16_narrow_i16x8(words, words), 0);
#else
    for (int i = 0; i < 2 * kSums; ++i) {
      const int8_t* beside = residual == nullptr ? nullptr : residual + i;
      to[i] = RequantisedSum(state_, sums[i / kSums].v[i % kSums], channel_ + i, beside);
    }
#endif
  }

 private:
  const BytePanelState& state_;
  int64_t channel_;
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_EIGHT_RESULTS_H_
