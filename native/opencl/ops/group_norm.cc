#include "native/opencl/norm.h"
#include "native/opencl/read.h"

namespace lathe {
namespace opencl {
namespace {

// Groups whose channels share pixels with those of others cannot write them: what is known of a group is noted first.
Code NoteAndApply(Node& node, Norm* norm) {
  DeviceTensor& y = node.output(0);
  DeviceTensor* noted = nullptr;
  LATHE_TRY(node.Scratch(static_cast<int32_t>(norm->columns), static_cast<int32_t>(norm->images), &noted));
  norm->noted = true;
  norm->operands = 0;
  LATHE_TRY(EnqueueNorm(node, *norm, *noted));
  Launch launch(node, "normalise");
  launch.In(node.input(0)).In(*noted).In(node.input(1)).In(node.input(2)).Out(y);
  launch.Int(y.view.c).Int(norm->size).Int(norm->rows);
  return launch.Enqueue(y.view.w, y.view.height(), y.view.blocks);
}

}  // namespace

LATHE_OPENCL_PLAN(group_norm)(Node& node) {
  LATHE_TRY(CheckPixels(node, 3, 1));
  DeviceTensor& x = node.input(0);
  const Shape& shape = x.shape;
  const View& view = x.view;
  if (shape.rank < 3) return node.Fail(Code::kUnsupported, "has fewer than three axes");
  int32_t groups = 0;
  LATHE_TRY(ReadInt(node, "groups", 1, view.c, &groups));
  bool fits = shape == node.output(0).shape && view.c % groups == 0;
  for (int i = 1; i <= 2; ++i) fits = fits && node.input(i).shape.rank == 1 && node.input(i).view.c == view.c;
  if (!fits) return node.Fail(Code::kBadModel, "its groups or the shapes of its tensors do not fit each other");
  Norm norm;
  norm.groups = true;
  norm.operands = 2;
  norm.lanes = groups < view.c;
  norm.columns = norm.lanes ? groups : view.blocks;
  norm.images = shape[0];
  norm.size = norm.lanes ? view.c / groups : 4;
  norm.breadth = (norm.size + 3) / 4 * view.w;
  norm.rows = view.height() / norm.images;
  norm.numbers = shape.Count(1, shape.rank - 1) * (view.c / groups);
  return norm.size % 4 == 0 || groups == 1 ? EnqueueNorm(node, norm, node.output(0)) : NoteAndApply(node, &norm);
}

}  // namespace opencl
}  // namespace lathe
