// Pools by whole vectors of channels.; folds are those of pooled_images.h, on vectors.
#ifndef LATHE_KERNEL_SPATIAL_POOL_H_
#define LATHE_KERNEL_SPATIAL_POOL_H_

#include "native/kernel/simd/simd.h"
#include "native/kernel/spatial/pooled_images.h"

namespace lathe {
namespace {

constexpr int kPoolWidth = 4;                                       // vectors of channels that are folded side by side
constexpr int kWidePool = kVectorRegisters >= 16 ? 8 : kPoolWidth;  // as long as there are so many

// The taps of one window that lie inside the image.
struct PoolTaps {
  const Element* first;
  ptrdiff_t rows;
  ptrdiff_t columns;
  ptrdiff_t row_step;
  ptrdiff_t column_step;
};

template <typename Fold>
struct PoolPixel {
  // `width` whole vectors of channels, or one that holds `count` of them.
  template <int width, bool whole>
  static void FoldChannels(const Fold& fold, const PoolTaps& taps, int64_t channel, int count, float divisor,
                           Element* to) {
    Vec sums[width];
    for (int i = 0; i < width; ++i) sums[i] = fold.Start();
    const Element* row = taps.first + channel;
    for (ptrdiff_t y = taps.rows; y > 0; --y, row += taps.row_step) {
      const Element* from = row;
      for (ptrdiff_t x = taps.columns; x > 0; --x, from += taps.column_step) {
#pragma GCC unroll 8
        for (int i = 0; i < width; ++i) {
          sums[i] = fold.Add(sums[i], whole ? Load(from + i * kLanes) : LoadPart(from, count));
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) {
      const Vec result = fold.Finish(sums[i], divisor);
      whole ? Store(to + channel + i * kLanes, result) : StorePart(to + channel, result, count);
    }
  }

  static void Run(const PoolState<Fold>& state, const Taps& vertical, const Taps& level, const Shape& in, int64_t pixel,
                  const Element* image, Element* to) {
    const int64_t channels = in[3];
    const Window& window = state.window;
    PoolTaps taps = {};
    taps.rows = static_cast<ptrdiff_t>(vertical.last - vertical.first);
    taps.columns = static_cast<ptrdiff_t>(level.last - level.first);
    taps.row_step = static_cast<ptrdiff_t>(window.dilations[0] * in[2] * pixel);
    taps.column_step = static_cast<ptrdiff_t>(window.dilations[1] * pixel);
    const int64_t y = vertical.origin + vertical.first * window.dilations[0];
    const int64_t x = level.origin + level.first * window.dilations[1];
    taps.first = taps.rows > 0 && taps.columns > 0 ? image + (y * in[2] + x) * pixel : image;
    const float divisor = state.TapsOf(vertical, level, in);
    constexpr int kStep = kPoolWidth * kLanes, kWideStep = kWidePool * kLanes;
    int64_t channel = 0;
    for (; kWideStep > kStep && channel + kWideStep <= channels; channel += kWideStep) {
      FoldChannels<kWidePool, true>(state.fold, taps, channel, 0, divisor, to);
    }
    for (; channel + kStep <= channels; channel += kStep) {
      FoldChannels<kPoolWidth, true>(state.fold, taps, channel, 0, divisor, to);
    }
    for (; channel + kLanes <= channels; channel += kLanes) {
      FoldChannels<1, true>(state.fold, taps, channel, 0, divisor, to);
    }
    const int rest = static_cast<int>(channels - channel);
    if (rest > 0) FoldChannels<1, false>(state.fold, taps, channel, rest, divisor, to);
  }
};

template <typename Fold>
constexpr KernelFunctions PoolKernel() {
  return PooledImagesKernel<PooledImages<Fold, Element, kElementType, PoolPixel<Fold>>>();
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_POOL_H_
