#include "native/opencl/convolution.h"

namespace lathe {
namespace opencl {
namespace {

// The filter as it is multiplied with, G w G^T: pixels (input, part * blocks + block of outputs).
void Fill(const float* source, const Shape& shape, int32_t width, int32_t, const int64_t (&arguments)[4],
          float* pixels) {
  constexpr double kThird = 1.0 / 3.0, kSixth = 1.0 / 6.0, kRoot = 1.4142135623730951;
  static constexpr double kOfTwo[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  static constexpr double kOfFour[6][3] = {{1, 0, 0},
                                           {-2 * kThird, -kRoot * kThird, -kThird},
                                           {-2 * kThird, kRoot * kThird, -kThird},
                                           {kSixth, kRoot * kSixth, kThird},
                                           {kSixth, -kRoot * kSixth, kThird},
                                           {0, 0, 1}};
  const int side = static_cast<int>(arguments[0]) + 2;
  const double (*const g)[3] = side == 4 ? kOfTwo : kOfFour;
  const int64_t outputs = shape[0], inputs = shape[3], blocks = (outputs + 3) / 4;
  for (int64_t output = 0; output < outputs; ++output) {
    for (int64_t input = 0; input < inputs; ++input) {
      const float* w = source + output * 9 * inputs + input;
      for (int part = 0; part < side * side; ++part) {
        const double *down = g[part / side], *across = g[part % side];
        double sum = 0.0;
        for (int tap = 0; tap < 9; ++tap) sum += down[tap / 3] * across[tap % 3] * static_cast<double>(w[tap * inputs]);
        pixels[((part * blocks + output / 4) * width + input) * 4 + output % 4] = static_cast<float>(sum);
      }
    }
  }
}

struct Tiles {
  int32_t size;
  int64_t down, across;
};

// The tiles with the fewest products, of those whose transforms cost less than what they save.
bool ChooseTiles(const Convolution& conv, int largest, Tiles* best) {
  int64_t least = 9 * int64_t{conv.out.h} * conv.out.w;
  bool found = false;
  for (int32_t size = 2; size <= largest; size += 2) {
    const int64_t down = (conv.out.h + size - 1) / size, across = (conv.out.w + size - 1) / size;
    const int64_t parts = (size + 2) * (size + 2), products = parts * down * across;
    // Per part, a product of I and O channels costs I * O, and carrying them to memory and back about 32 * (I + O).
    const int64_t in = conv.in.c, out = conv.out.c;
    const int64_t cost = products + products * 32 * (in + out) / (in * out);
    if (cost >= least) continue;
    least = cost;
    *best = {size, down, across};
    found = true;
  }
  return found;
}

Code EnqueueTransforms(Node& node, const Convolution& conv, const Tiles& tiles) {
  const View& in = conv.in;
  const View& out = conv.out;
  const int64_t parts = (tiles.size + 2) * (tiles.size + 2), count = tiles.down * tiles.across * in.n;
  const int64_t blocks = in.blocks > out.blocks ? in.blocks : out.blocks;
  if (count > INT32_MAX / 4 || parts * blocks > INT32_MAX / 4)
    return node.Fail(Code::kUnsupported, "is too large to be transformed");
  const auto in_rows = static_cast<int32_t>(parts * in.blocks), out_rows = static_cast<int32_t>(parts * out.blocks);
  DeviceTensor *filter, *transformed, *products;
  LATHE_TRY(node.Packed(1, 4 * in.blocks, out_rows, Fill, {tiles.size, 0, 0, 0}, &filter));
  LATHE_TRY(node.Scratch(static_cast<int32_t>(count), in_rows, &transformed));
  LATHE_TRY(node.Scratch(static_cast<int32_t>(count), out_rows, &products));
  Launch forth(node, "transform");
  forth.Define("SIZE", tiles.size).Define("STAGE", 0).Define("BLOCKS", 1).In(node.input(0)).Out(*transformed);
  forth.Int(in.h).Int(in.w).Int(in.blocks).Int(tiles.down).Int(tiles.across).Int(conv.pads[0]).Int(conv.pads[1]);
  LATHE_TRY(forth.Enqueue(count, in.blocks));
  const int32_t of_item = BlocksOfItem(node, (count + 3) / 4 * out_rows, out.blocks);
  Launch product(node, "product");
  product.Define("SIZE", tiles.size).Define("STAGE", 1).Define("BLOCKS", of_item);
  product.In(*transformed).In(*filter).Out(*products);
  product.Int(in.blocks).Int(0).Int(4 * out.blocks).Int(out.blocks).Int(count);
  LATHE_TRY(product.Enqueue((count + 3) / 4, out.blocks / of_item, parts));
  Launch back(node, "transform_back");
  back.Define("SIZE", tiles.size).Define("STAGE", 2).Define("BLOCKS", 1).In(*products).Out(node.output(0));
  AddInputs(node, &back);
  back.Int(out.h).Int(out.w).Int(out.c).Int(out.blocks).Int(tiles.down).Int(tiles.across).Activation();
  return back.Enqueue(count, out.blocks);
}

}  // namespace

LATHE_OPENCL_PLAN(conv2d_winograd)(Node& node) {
  Convolution conv;
  LATHE_TRY(ReadConvolution(node, &conv));
  LATHE_TRY(CheckWindows(node, conv));
  Tiles tiles = {};
  bool fits = conv.kernel[0] == 3 && conv.kernel[1] == 3 && conv.group_outputs == conv.out.c;
  for (int axis = 0; axis < 2; ++axis) fits = fits && conv.strides[axis] == 1 && conv.dilations[axis] == 1;
  if (!fits || !ChooseTiles(conv, node.winograd(), &tiles))
    return node.Fail(Code::kUnsupported, "gains nothing by transforms of its tiles");
  return EnqueueTransforms(node, conv, tiles);
}

}  // namespace opencl
}  // namespace lathe
