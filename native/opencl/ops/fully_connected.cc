#include "native/opencl/product.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {

LATHE_OPENCL_PLAN(fully_connected)(Node& node) {
  LATHE_TRY(CheckPixels(node, node.input_count() == 3 ? 3 : 2, 1));
  const Shape& weight = node.input(1).shape;
  Shape expected = node.input(0).shape;
  const bool fits = weight.rank == 2 && expected.rank > 0 && expected[-1] == weight[1];
  if (fits) expected.dims[expected.rank - 1] = weight[0];
  if (!fits || node.output(0).shape != expected)
    return node.Fail(Code::kBadModel, "its weights do not fit its tensors");
  if (!node.is_constant(1)) return node.Fail(Code::kUnsupported, "its weights are no constant");
  LATHE_TRY(CheckAdded(node));
  return EnqueueProduct(node, FillFilter, {1, 1}, true);
}

}  // namespace opencl
}  // namespace lathe
