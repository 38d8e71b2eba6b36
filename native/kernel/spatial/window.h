// Sliding windows over two spatial axes: what convolutions and pools have in common.
#ifndef LATHE_KERNEL_SPATIAL_WINDOW_H_
#define LATHE_KERNEL_SPATIAL_WINDOW_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {

// Index 0 is vertical, 1 horizontal. All numbers are within kMaxExtent.
struct Window {
  int64_t kernel[2];
  int64_t strides[2];
  int64_t dilations[2];
  int64_t before[2];
  int64_t after[2];
};

// From the first to the last tap along an axis.
int64_t WindowExtent(const Window& window, int axis);

// Strides, pads and dilations. The kernel's size comes from the filter or from an attribute of its own.
Code ReadWindow(const PrepareContext& context, Window* window);

// Input and output have rank 4 and their spatial extents fit the arithmetic.
Code CheckImages(const PlanContext& context);

// Windows that fit along an axis; `round_up` also counts a last one that hangs over the end, provided
// that it begins before the padding behind. 0 where none fits.
int64_t WindowCount(const Window& window, int axis, int64_t size, bool round_up);

namespace {

// The part of a window along one axis that lies inside the image: taps [first, last).
struct Taps {
  int64_t first;
  int64_t last;
  int64_t origin;  // position of tap 0, may be negative
};

inline Taps TapsInside(const Window& window, int axis, int64_t position, int64_t size) {
  Taps taps;
  const int64_t dilation = window.dilations[axis];
  taps.origin = position * window.strides[axis] - window.before[axis];
  const auto steps = [=](int64_t distance) { return dilation == 1 ? distance : distance / dilation; };
  taps.first = taps.origin < 0 ? steps(-taps.origin + dilation - 1) : 0;
  const int64_t fitting = taps.origin < size ? steps(size - 1 - taps.origin) + 1 : 0;
  taps.last = fitting < window.kernel[axis] ? fitting : window.kernel[axis];
  if (taps.first > taps.last) taps.first = taps.last;
  return taps;
}

// Taps of the same window that lie inside the padded image.
inline int64_t TapsPadded(const Window& window, int axis, const Taps& taps, int64_t size) {
  const int64_t end = size + window.after[axis];  // a window begins at -before or later
  const int64_t fitting = taps.origin < end ? (end - 1 - taps.origin) / window.dilations[axis] + 1 : 0;
  return fitting < window.kernel[axis] ? fitting : window.kernel[axis];
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_WINDOW_H_
