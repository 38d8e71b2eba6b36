// Pools over windows: the kernel of pool.cl.
#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// Index 0 is vertical, 1 horizontal; pads are first those before, then those behind.
struct Window {
  int32_t kernel[2], strides[2], dilations[2], pads[4];
};

// The windows along an axis. The last one may hang over the end, where it begins before the padding behind.
bool HasCount(const Window& window, int axis, int64_t size, bool hangs_over, int64_t count) {
  const int64_t stride = window.strides[axis];
  const int64_t extent = int64_t{window.kernel[axis] - 1} * window.dilations[axis] + 1;
  const int64_t begin = window.pads[axis];
  const int64_t room = size + begin + window.pads[axis + 2] - extent;
  if ((room < 0 && (!hangs_over || room <= -stride)) || extent > kMostExtent) return false;
  const int64_t inside = room / stride + 1;
  if (!hangs_over) return count == inside;
  const int64_t started = (size + begin + stride - 1) / stride;
  const int64_t all = (room + stride - 1) / stride + 1;
  return count == (all < started ? all : started);
}

// `counts_padding`: taps in the padding are taps.
Code EnqueuePool(Node& node, bool counts_padding) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  Window window;
  int32_t hangs_over = 0;
  LATHE_TRY(ReadInts(node, "kernel", 1, kMostExtent, 2, window.kernel));
  LATHE_TRY(ReadInts(node, "strides", 1, kMostExtent, 2, window.strides));
  LATHE_TRY(ReadInts(node, "dilations", 1, kMostExtent, 2, window.dilations));
  LATHE_TRY(ReadInts(node, "pads", 0, kMostExtent, 4, window.pads));
  LATHE_TRY(ReadInt(node, "ceil_mode", 0, 1, &hangs_over));
  const View& in = x.view;
  const View& out = y.view;
  const bool fits = x.shape.rank == 4 && y.shape.rank == 4 && in.n == out.n && in.c == out.c &&
                    HasCount(window, 0, in.h, hangs_over != 0, out.h) &&
                    HasCount(window, 1, in.w, hangs_over != 0, out.w);
  if (!fits) return node.Fail(Code::kBadModel, "its output does not have the size of its windows");
  Launch launch(node, "pool");
  launch.In(x).Out(y).Int(in.h).Int(in.w).Int(out.h).Int(out.c);
  launch.Int(window.kernel[0]).Int(window.kernel[1]).Int(window.strides[0]).Int(window.strides[1]);
  launch.Int(window.dilations[0]).Int(window.dilations[1]).Int(window.pads[0]).Int(window.pads[1]);
  launch.Int(counts_padding ? in.h + window.pads[2] : -1).Int(counts_padding ? in.w + window.pads[3] : -1);
  return launch.Enqueue(out.w, out.height(), out.blocks);
}

}  // namespace

LATHE_OPENCL_PLAN(max_pool2d)(Node& node) { return EnqueuePool(node, false); }

LATHE_OPENCL_PLAN(avg_pool2d)(Node& node) {
  int64_t counts_padding = 0;
  LATHE_TRY(node.Int("count_include_pad", &counts_padding));
  return EnqueuePool(node, counts_padding != 0);
}

}  // namespace opencl
}  // namespace lathe
