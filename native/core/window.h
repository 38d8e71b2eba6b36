// Sliding windows over two spatial axes: what convolutions and pools have in common.
#ifndef LATHE_CORE_WINDOW_H_
#define LATHE_CORE_WINDOW_H_

#include "native/core/check.h"
#include "native/core/kernel.h"

namespace lathe {
namespace {

// Index 0 is vertical, 1 horizontal. All numbers are within kMaxExtent.
struct Window {
  int64_t kernel[2];
  int64_t strides[2];
  int64_t dilations[2];
  int64_t before[2];
  int64_t after[2];

  int64_t extent(int axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
};

// Strides, pads and dilations. The kernel's size comes from the filter or from an attribute of its own.
inline Code ReadWindow(const PrepareContext& context, Window* window) {
  int64_t pads[4];
  LATHE_TRY(ReadInts(context, "strides", 2, 1, kMaxExtent, window->strides));
  LATHE_TRY(ReadInts(context, "dilations", 2, 1, kMaxExtent, window->dilations));
  LATHE_TRY(ReadInts(context, "pads", 4, 0, kMaxExtent, pads));
  for (int axis = 0; axis < 2; ++axis) {
    window->before[axis] = pads[axis];
    window->after[axis] = pads[2 + axis];
  }
  return Code::kOk;
}

// Input and output have rank 4 and their spatial extents fit the arithmetic.
inline Code CheckImages(const PlanContext& context) {
  const Shape* shapes[] = {&context.input(0).shape, &context.output(0).shape};
  for (const Shape* shape : shapes) {
    for (int axis = 1; axis < 3; ++axis) {
      if (shape->dims[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "an image is too large");
    }
  }
  return Code::kOk;
}

// Windows that fit along an axis; `round_up` also counts a last one that hangs over the end, provided
// that it begins before the padding behind. 0 where none fits.
inline int64_t WindowCount(const Window& window, int axis, int64_t size, bool round_up) {
  const int64_t room = size + window.before[axis] + window.after[axis] - window.extent(axis);
  if (room < 0) return 0;
  if (!round_up) return room / window.strides[axis] + 1;
  const int64_t touching = (room + window.strides[axis] - 1) / window.strides[axis] + 1;
  const int64_t beginning = (size + window.before[axis] + window.strides[axis] - 1) / window.strides[axis];
  return touching < beginning ? touching : beginning;
}

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
  taps.first = taps.origin < 0 ? (-taps.origin + dilation - 1) / dilation : 0;
  const int64_t fitting = taps.origin < size ? (size - 1 - taps.origin) / dilation + 1 : 0;
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

#endif  // LATHE_CORE_WINDOW_H_
