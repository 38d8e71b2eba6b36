#include "native/opencl/product.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

// Pixels (row, block of columns) of a matrix.
void Fill(const float* source, const Shape& shape, int32_t width, int32_t, const int64_t (&)[4], float* pixels) {
  const int64_t columns = shape[-1];
  for (int64_t row = 0; row < shape[-2]; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      pixels[(column / 4 * width + row) * 4 + column % 4] = source[row * columns + column];
  }
}

// Which matrix of an operand goes with matrix `i` of the result: i / repeats % count.
struct Share {
  int32_t repeats, count;
};

// Either all leading axes of an operand have one element, or those that have more stand together.
Code ShareOf(const Node& node, const Shape& own, const Shape& result, Share* share) {
  enum { kBehind, kAmong, kInFront } place = kBehind;
  *share = {1, 1};
  for (int from_end = 3; from_end <= result.rank; ++from_end) {
    const int64_t all = result[-from_end], some = from_end <= own.rank ? own[-from_end] : 1;
    if (some != 1 && some != all) return node.Fail(Code::kBadModel, "its batch dimensions do not broadcast");
    if (all == 1) continue;
    if (some == 1) {
      if (place == kAmong) place = kInFront;
      if (place == kBehind) share->repeats *= static_cast<int32_t>(all);
    } else {
      if (place == kInFront) return node.Fail(Code::kUnsupported, "broadcasts single axes between others");
      place = kAmong;
      share->count *= static_cast<int32_t>(all);
    }
  }
  return Code::kOk;
}

}  // namespace

LATHE_OPENCL_PLAN(matmul)(Node& node) {
  LATHE_TRY(CheckPixels(node, 2, 1));
  DeviceTensor& a = node.input(0);
  DeviceTensor& b = node.input(1);
  DeviceTensor& y = node.output(0);
  if (a.shape.rank < 2 || b.shape.rank < 2 || y.shape.rank < 2)
    return node.Fail(Code::kUnsupported, "multiplies a vector");
  const View& out = y.view;
  if (a.view.c != b.view.w || a.view.w != out.w || b.view.c != out.c)
    return node.Fail(Code::kBadModel, "its matrices do not fit each other");
  Share of_a, of_b;
  LATHE_TRY(ShareOf(node, a.shape, y.shape, &of_a));
  LATHE_TRY(ShareOf(node, b.shape, y.shape, &of_b));
  if (of_a.count != a.view.height() || of_b.count != b.view.height())
    return node.Fail(Code::kBadModel, "its batch dimensions do not broadcast");
  if (of_b.count == 1 && node.is_constant(1) && of_a.count == out.height())
    return EnqueueProduct(node, Fill, {1, 1}, false);
  const int64_t tiles = (int64_t{out.w} + 3) / 4;
  const int32_t of_item = BlocksOfItem(node, tiles * out.blocks * out.height(), out.blocks);
  Launch launch(node, "product");
  launch.Define("BLOCKS", of_item).Define("BATCHED", 1).Define("ADDED", 0).In(a).In(b).Out(y);
  launch.Int(a.view.blocks).Int(out.w).Int(out.c).Int(out.blocks).Int(out.w).Int(a.view.c);
  launch.Int(of_a.repeats).Int(of_a.count).Int(of_b.repeats).Int(of_b.count);
  return launch.Enqueue(tiles, out.blocks / of_item, out.height());
}

}  // namespace opencl
}  // namespace lathe
