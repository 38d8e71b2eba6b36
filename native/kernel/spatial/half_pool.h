// Pools of halves for every machine: a window is folded in single precision, by a fold of pooled_images.h on floats.
#ifndef LATHE_KERNEL_SPATIAL_HALF_POOL_H_
#define LATHE_KERNEL_SPATIAL_HALF_POOL_H_

#include "native/kernel/math/convert.h"
#include "native/kernel/spatial/pooled_images.h"

namespace lathe {
namespace {

template <typename Fold>
struct HalfPoolPixel {
  static void Run(const PoolState<Fold>& state, const Taps& vertical, const Taps& level, const Shape& in,
                  const Half* image, Half* to) {
    const Window& window = state.window;
    const float taps = state.TapsOf(vertical, level, in);
    for (int64_t channel = 0; channel < in[3]; ++channel) {
      float sum = state.fold.Start();
      for (int64_t i = vertical.first; i < vertical.last; ++i) {
        const int64_t line = (vertical.origin + i * window.dilations[0]) * in[2];
        for (int64_t j = level.first; j < level.last; ++j) {
          const int64_t pixel = line + level.origin + j * window.dilations[1];
          sum = state.fold.Add(sum, Widen(image[pixel * in[3] + channel]));
        }
      }
      to[channel] = Convert<Half>(state.fold.Finish(sum, taps));
    }
  }
};

template <typename Fold>
constexpr KernelFunctions HalfPoolKernel() {
  return PooledImagesKernel<PooledImages<Fold, Half, DType::kF16, HalfPoolPixel<Fold>>>();
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_HALF_POOL_H_
