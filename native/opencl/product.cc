#include "native/opencl/product.h"

#include "native/opencl/device.h"

namespace lathe {
namespace opencl {
namespace {

// Of up to this many pixels each is multiplied for itself: tiles of four would stay empty.
constexpr int64_t kFewPixels = 3;
constexpr int32_t kLanes = 16, kBlocksOfRows = 4;                 // groups of row_product.cl
constexpr int32_t kSplitTiles = 8, kSplitBlocks = 2, kSplit = 4;  // and of SPLIT in product.cl
constexpr size_t kMostItems = 64;                                 // of these groups
constexpr int32_t kSplitDepth = 16;                               // blocks of input channels that are worth a split

int64_t RoundUp(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

Code EnqueueRows(Node& node, DeviceTensor& filter, bool activated) {
  const View& in = node.input(0).view;
  const View& out = node.output(0).view;
  Launch launch(node, "row_product");
  launch.Define("ROWS", 1).In(node.input(0)).In(filter).Out(node.output(0));
  AddInputs(node, &launch);
  launch.Ints({in.blocks, in.w, out.c, out.blocks, out.w});
  if (activated) launch.Activation();
  launch.Group(kLanes, kBlocksOfRows);
  return launch.Enqueue(kLanes, RoundUp(out.blocks, kBlocksOfRows), int64_t{out.height()} * out.w);
}

}  // namespace

Code EnqueueProduct(Node& node, FillPixels fill, const int32_t (&strides)[2], bool activated) {
  const View& in = node.input(0).view;
  const View& out = node.output(0).view;
  DeviceTensor* filter;
  LATHE_TRY(node.Packed(1, 4 * in.blocks, out.blocks, fill, {1, 0, 0, 0}, &filter));
  const int64_t pixels = int64_t{out.height()} * out.w;
  const bool strided = strides[0] != 1 || strides[1] != 1, groups = node.device().max_group >= kMostItems;
  if (pixels <= kFewPixels && !strided && groups) return EnqueueRows(node, *filter, activated);
  int64_t tiles = (pixels + 3) / 4;
  const int64_t items = tiles * out.blocks;
  const int32_t of_item = BlocksOfItem(node, items, out.blocks);
  const bool split = of_item == 1 && groups && in.blocks >= kSplitDepth && LeavesIdle(node, items);
  if (split) tiles = RoundUp(tiles, kSplitTiles);
  Launch launch(node, "product");
  launch.Define("BLOCKS", of_item).Define("STRIDED", strided).In(node.input(0)).In(*filter).Out(node.output(0));
  AddInputs(node, &launch);
  launch.Ints({in.blocks, in.w, out.c, out.blocks, out.w});
  launch.Int(out.height()).Int(tiles % out.w).Int(tiles / out.w);
  launch.Ints({strides[0], strides[1], in.h, out.h});
  if (activated) launch.Activation();
  if (!split) return launch.Enqueue(tiles, out.blocks / of_item);
  launch.Define("SPLIT", kSplit).Group(kSplitTiles, kSplitBlocks, kSplit);
  return launch.Enqueue(tiles, RoundUp(out.blocks, kSplitBlocks), kSplit);
}

}  // namespace opencl
}  // namespace lathe
