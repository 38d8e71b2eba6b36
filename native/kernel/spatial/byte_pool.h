// Pools of bytes, some channels side by side. A fold has, besides `Read` and `CountsPadding` (pooled_images.h),
// `Stretch<width>(patch, taps, to)` for so many channels and `One(patch, taps, to)` for one. On the DSP it has
// `All(patch, taps, channels, to)` instead.
#ifndef LATHE_KERNEL_SPATIAL_BYTE_POOL_H_
#define LATHE_KERNEL_SPATIAL_BYTE_POOL_H_

#include "native/kernel/simd/sixteen.h"
#include "native/kernel/spatial/pooled_images.h"

namespace lathe {
namespace {

constexpr int64_t kMostTaps = INT32_MAX / 256;  // whose sum is within 32 bits

// The taps of one window that lie inside the image.
struct BytePatch {
  const int8_t* first;
  int64_t rows;
  int64_t columns;
  int64_t row_step;
  int64_t column_step;

  template <typename F>
  void ForTaps(const F& f) const {
    const int8_t* row = first;
    for (int64_t y = rows; y > 0; --y, row += row_step) {
      const int8_t* from = row;
      for (int64_t x = columns; x > 0; --x, from += column_step) f(from);
    }
  }
};

template <typename Fold>
struct BytePoolPixel {
  static constexpr int kWide = 4 * kStretch;

  template <int width>
  static int64_t RunStretches(const Fold& fold, BytePatch patch, float taps, int64_t channel, int64_t channels,
                              int8_t* to) {
    const int8_t* first = patch.first;
    for (; channel + width <= channels; channel += width) {
      patch.first = first + channel;
      fold.template Stretch<width>(patch, taps, to + channel);
    }
    return channel;
  }

  static void Run(const PoolState<Fold>& state, const Taps& vertical, const Taps& level, const Shape& in, int64_t pixel,
                  const int8_t* image, int8_t* to) {
    const int64_t channels = in[3];
    const Window& window = state.window;
    const int64_t y = vertical.origin + vertical.first * window.dilations[0];
    const int64_t x = level.origin + level.first * window.dilations[1];
    BytePatch patch = {image, vertical.last - vertical.first, level.last - level.first,
                       window.dilations[0] * in[2] * pixel, window.dilations[1] * pixel};
    if (patch.rows > 0 && patch.columns > 0) patch.first = image + (y * in[2] + x) * pixel;
    const float taps = state.TapsOf(vertical, level, in);
#if defined(__HVX__)
    state.fold.All(patch, taps, static_cast<int>(channels), to);
#else
    const int8_t* first = patch.first;
    int64_t channel = RunStretches<kWide>(state.fold, patch, taps, 0, channels, to);
    channel = RunStretches<kStretch>(state.fold, patch, taps, channel, channels, to);
    if (channel < channels && channels >= kStretch) {  // overlaps the one before
      channel = channels - kStretch;
      patch.first = first + channel;
      state.fold.template Stretch<kStretch>(patch, taps, to + channel);
      return;
    }
    for (; channel < channels; ++channel) {
      patch.first = first + channel;
      state.fold.One(patch, taps, to + channel);
    }
#endif
  }
};

template <typename Fold>
struct BytePool : PooledImages<Fold, int8_t, DType::kS8, BytePoolPixel<Fold>> {
  using Images = PooledImages<Fold, int8_t, DType::kS8, BytePoolPixel<Fold>>;

  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(Images::Prepare(context));
    const Window& window = static_cast<const PoolState<Fold>*>(context.state())->window;
    if (window.kernel[0] <= kMostTaps / window.kernel[1]) return Code::kOk;
    return context.Fail(Code::kUnsupported, "its window is too large");
  }
};

template <typename Fold>
constexpr KernelFunctions BytePoolKernel() {
  return PooledImagesKernel<BytePool<Fold>>();
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_BYTE_POOL_H_
