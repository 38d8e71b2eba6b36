#include "native/opencl/product.h"

#include "native/opencl/device.h"

namespace lathe {
namespace opencl {
namespace {

// Of up to this many pixels each is multiplied for itself: tiles of four would stay empty.
constexpr int64_t kFewPixels = 3;
constexpr int32_t kLanes = 16, kBlocksOfGroup = 4;  // as in row_product.cl

Code EnqueueRows(Node& node, DeviceTensor& filter, bool activated) {
  const View& in = node.input(0).view;
  const View& out = node.output(0).view;
  Launch launch(node, "row_product");
  launch.Define("BLOCKS", 1).Define("STRIDED", 0).In(node.input(0)).In(filter).Out(node.output(0));
  AddInputs(node, &launch);
  launch.Int(in.blocks).Int(in.w).Int(out.c).Int(out.blocks).Int(out.w);
  if (activated) launch.Activation();
  launch.Group(kLanes, kBlocksOfGroup);
  return launch.Enqueue(kLanes, (int64_t{out.blocks} + kBlocksOfGroup - 1) / kBlocksOfGroup * kBlocksOfGroup,
                        int64_t{out.height()} * out.w);
}

}  // namespace

Code EnqueueProduct(Node& node, FillPixels fill, const int32_t (&strides)[2], bool activated) {
  const View& in = node.input(0).view;
  const View& out = node.output(0).view;
  DeviceTensor* filter;
  LATHE_TRY(node.Packed(1, 4 * in.blocks, out.blocks, fill, {1, 0, 0, 0}, &filter));
  const int64_t pixels = int64_t{out.height()} * out.w;
  const bool strided = strides[0] != 1 || strides[1] != 1;
  const bool groups = node.device().max_group >= kLanes * kBlocksOfGroup;
  if (pixels <= kFewPixels && !strided && groups) return EnqueueRows(node, *filter, activated);
  const int64_t tiles = (pixels + 3) / 4;
  const int32_t of_item = BlocksOfItem(node, tiles * out.blocks, out.blocks);
  Launch launch(node, "product");
  launch.Define("BLOCKS", of_item).Define("STRIDED", strided).In(node.input(0)).In(*filter).Out(node.output(0));
  AddInputs(node, &launch);
  launch.Int(in.blocks).Int(in.w).Int(out.c).Int(out.blocks).Int(out.w);
  launch.Int(out.height()).Int(tiles % out.w).Int(tiles / out.w);
  launch.Int(strides[0]).Int(strides[1]).Int(in.h).Int(out.h);
  if (activated) launch.Activation();
  return launch.Enqueue(tiles, out.blocks / of_item);
}

}  // namespace opencl
}  // namespace lathe
