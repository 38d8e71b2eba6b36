// Pools of halves and doubles for every machine. The folds are those of pooled_images.h, on the numbers that elements
// are computed in: floats for halves.
#ifndef LATHE_KERNEL_SPATIAL_HALF_POOL_H_
#define LATHE_KERNEL_SPATIAL_HALF_POOL_H_

#include "native/kernel/math/convert.h"
#include "native/kernel/spatial/pooled_images.h"

namespace lathe {
namespace {

template <typename Fold, typename T>
struct ScalarPoolPixel {
  static void Run(const PoolState<Fold>& state, const Taps& vertical, const Taps& level, const Shape& in, int64_t step,
                  const T* image, T* to) {
    const Window& window = state.window;
    const float taps = state.TapsOf(vertical, level, in);
    for (int64_t channel = 0; channel < in[3]; ++channel) {
      auto sum = state.fold.Start();
      for (int64_t i = vertical.first; i < vertical.last; ++i) {
        const int64_t line = (vertical.origin + i * window.dilations[0]) * in[2];
        for (int64_t j = level.first; j < level.last; ++j) {
          const int64_t pixel = line + level.origin + j * window.dilations[1];
          sum = state.fold.Add(sum, Widen(image[pixel * step + channel]));
        }
      }
      to[channel] = Convert<T>(state.fold.Finish(sum, taps));
    }
  }
};

template <typename Fold>
constexpr KernelFunctions HalfPoolKernel() {
  return PooledImagesKernel<PooledImages<Fold, Half, DType::kF16, ScalarPoolPixel<Fold, Half>>>();
}

template <typename Fold>
constexpr KernelFunctions DoublePoolKernel() {
  return PooledImagesKernel<PooledImages<Fold, double, DType::kF64, ScalarPoolPixel<Fold, double>>>();
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_HALF_POOL_H_
