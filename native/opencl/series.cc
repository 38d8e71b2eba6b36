#include "native/opencl/series.h"

#include "native/opencl/device.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

// Few long series do not keep a device busy with one work item each.
int32_t GroupFor(const DeviceFacts& device, int64_t series, int64_t pixels) {
  constexpr int64_t kManySeries = 4096, kLong = 2048;
  constexpr int32_t kGroup = 64, kLarge = 256;
  const auto can = [&](int32_t group) {
    return device.max_group >= static_cast<size_t>(group) && device.max_items[0] >= static_cast<size_t>(group);
  };
  if (pixels >= kLong && series * kLarge <= kManySeries * kGroup && can(kLarge)) return kLarge;
  return pixels >= kGroup && series < kManySeries && can(kGroup) ? kGroup : 1;
}

}  // namespace

SeriesLaunch::SeriesLaunch(Node& node, const char* function, int64_t columns, int64_t rows, int64_t pixels, bool lanes)
    : launch_(node, function), columns_(columns), rows_(rows), group_(GroupFor(node.device(), columns * rows, pixels)) {
  launch_.Define("GROUP", group_).Define("LANES", lanes);
  if (group_ > 1) launch_.Group(group_);
}

LATHE_OPENCL_PLAN(softmax)(Node& node) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const Shape& shape = x.shape;
  if (shape != y.shape) return node.Fail(Code::kBadModel, "its output has another shape than its input");
  int32_t axis = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, shape.rank - 1, &axis));
  const View& view = x.view;
  const bool lanes = axis == shape.rank - 1, in_row = axis == shape.rank - 2;
  const int64_t size = lanes ? view.blocks : shape[axis];
  const int64_t columns = lanes ? view.w : in_row ? view.blocks : view.width();
  const int64_t rows = lanes || in_row ? view.height() : view.height() / size;
  const int64_t inner = lanes || in_row ? 1 : shape.Count(axis + 1, shape.rank - 2);
  SeriesLaunch series(node, "softmax", columns, rows, size, lanes);
  Launch& launch = series.launch().In(x).Out(y).Int(view.w).Int(view.c).Int(size);
  launch.Int(in_row ? view.w : 1).Int(lanes ? view.w : in_row).Int(lanes || in_row ? 0 : inner).Int(inner);
  return series.Enqueue();
}

}  // namespace opencl
}  // namespace lathe
