// Which elements of an image the pixels of a convolution read.
#ifndef LATHE_OPS_CONV2D_TAPS_H_
#define LATHE_OPS_CONV2D_TAPS_H_

#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

// Where a pixel of the output begins to look, counted on from pixel to pixel.
struct PixelPlace {
  int64_t batch;
  int64_t line;
  int64_t column;

  PixelPlace(int64_t pixel, const Shape& out) {
    const int64_t lines = pixel / out[2];
    batch = lines / out[1];
    line = lines - batch * out[1];
    column = pixel - lines * out[2];
  }
  void Next(const Shape& out) {
    if (++column < out[2]) return;
    column = 0;
    if (++line < out[1]) return;
    line = 0;
    ++batch;
  }
};

// The rows of an image as it is: for each tap `chunk` pointers. `zeros` stands for what is outside.
template <int chunk, typename Element>
inline void LocateTaps(const Window& window, const Tensor& input, const Shape& out, const Element* zeros, int64_t pixel,
                       int count, const Element** rows) {
  PixelPlace place(pixel, out);
  const Shape& in = input.shape;
  const Element* image = input.As<Element>();
  const int64_t input_step = input.RowStep();
  const int64_t step = window.dilations[1] * input_step;
  for (int p = 0; p < count; ++p, place.Next(out)) {
    const int64_t top = place.line * window.strides[0] - window.before[0];
    const int64_t left = place.column * window.strides[1] - window.before[1];
    const bool within = left >= 0 && left + window.dilations[1] * (window.kernel[1] - 1) < in[2];
    const Element** row = rows + p;
    for (int64_t i = 0; i < window.kernel[0]; ++i) {
      const int64_t y = top + i * window.dilations[0];
      const bool inside = y >= 0 && y < in[1];
      const Element* line = inside ? image + (place.batch * in[1] + y) * in[2] * input_step : zeros;
      if (inside && !within) {
        for (int64_t j = 0; j < window.kernel[1]; ++j, row += chunk) {
          const int64_t x = left + j * window.dilations[1];
          *row = x >= 0 && x < in[2] ? line + x * input_step : zeros;
        }
        continue;
      }
      if (inside) line += left * input_step;
      for (int64_t j = 0; j < window.kernel[1]; ++j, row += chunk, line += inside ? step : 0) *row = line;
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_TAPS_H_
