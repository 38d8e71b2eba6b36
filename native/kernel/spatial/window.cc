#include "native/kernel/spatial/window.h"

namespace lathe {

int64_t WindowExtent(const Window& window, int axis) { return window.dilations[axis] * (window.kernel[axis] - 1) + 1; }

Code ReadWindow(const PrepareContext& context, Window* window) {
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

Code CheckImages(const PlanContext& context) {
  const Shape* shapes[] = {&context.input(0).shape, &context.output(0).shape};
  for (const Shape* shape : shapes) {
    for (int axis = 1; axis < 3; ++axis) {
      if (shape->dims[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "an image is too large");
    }
  }
  return Code::kOk;
}

int64_t WindowCount(const Window& window, int axis, int64_t size, bool round_up) {
  const int64_t room = size + window.before[axis] + window.after[axis] - WindowExtent(window, axis);
  if (room < 0 && (!round_up || room <= -window.strides[axis])) return 0;
  if (!round_up) return room / window.strides[axis] + 1;
  const int64_t touching = (room + window.strides[axis] - 1) / window.strides[axis] + 1;
  const int64_t beginning = (size + window.before[axis] + window.strides[axis] - 1) / window.strides[axis];
  return touching < beginning ? touching : beginning;
}

}  // namespace lathe
