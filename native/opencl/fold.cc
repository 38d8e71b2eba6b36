#include "native/opencl/fold.h"

#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

struct Axis {
  int32_t x = 1, y = 1, before = 0;

  int32_t after() const { return y - x - before; }
  bool grows() const { return x != y; }
};

// Whether each element of the output has one in the input, or is filled.
bool Fits(const Axis& axis, Border border) {
  if (axis.before < 0 || axis.after() < 0) return false;
  return border != kMirrored || (axis.before < axis.x && axis.after() < axis.x);
}

bool KeepsPixels(const Axis& channels, Border border) {
  if (!channels.grows()) return true;
  if (channels.before % 4 != 0) return false;
  return (border == kFilled && channels.after() == 0) ||
         ((border == kFilled || border == kOnceMore) && channels.x % 4 == 0);
}

}  // namespace

Code EnqueueFold(Node& node, Border border, const int32_t* before, float fill) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const int rank = x.shape.rank;
  if (y.shape.rank != rank) return node.Fail(Code::kBadModel, "its output has another rank than its input");
  // The leading axes, and column and channel.
  Axis axes[kMaxRank + 2];
  int rows = 0;
  for (int i = 0; i < rank; ++i) {
    const Axis axis = {static_cast<int32_t>(x.shape.dims[i]), static_cast<int32_t>(y.shape.dims[i]), before[i]};
    if (!Fits(axis, border)) return node.Fail(Code::kBadModel, "its border does not fit its input");
    if (i >= rank - 2) {
      axes[kMaxRank + 2 - rank + i] = axis;
    } else if (rows > 0 && !axis.grows() && !axes[rows - 1].grows()) {
      axes[rows - 1].x = axes[rows - 1].y *= axis.x;
    } else {
      axes[rows++] = axis;
    }
  }
  if (rows > kRowAxes) return node.Fail(Code::kUnsupported, "has too many axes");
  const Axis& channels = axes[kMaxRank + 1];
  Launch launch(node, "move");
  launch.Define("MODE", border);
  BeginMove(launch, x, y, KeepsPixels(channels, border) ? Together::kInPixels : Together::kNot);
  // Missing axes are inner ones with one element.
  for (int i = 1; i < kRowAxes; ++i) launch.Int(axes[i].y);
  for (int i = 0; i < kRowAxes; ++i) launch.Int(axes[i].x);
  for (int i = 0; i < kRowAxes; ++i) launch.Int(axes[i].before);
  launch.Int(axes[kMaxRank].before).Int(channels.before).Int(channels.x).Float(fill);
  return EndMove(launch, y);
}

LATHE_OPENCL_PLAN(tile)(Node& node) {
  const int32_t before[kMaxRank] = {};
  return EnqueueFold(node, kOnceMore, before, 0.0f);
}

}  // namespace opencl
}  // namespace lathe
