#include "native/opencl/norm.h"

#include "native/opencl/read.h"
#include "native/opencl/series.h"

namespace lathe {
namespace opencl {

Code EnqueueNorm(Node& node, const Norm& norm, DeviceTensor& y) {
  float epsilon = 0.0f;
  LATHE_TRY(node.Float("epsilon", &epsilon));
  DeviceTensor& x = node.input(0);
  SeriesLaunch series(node, "norm", norm.columns, norm.images, norm.breadth * norm.rows, norm.lanes);
  Launch& launch = series.launch();
  launch.Define("GROUPS", norm.groups).Define("CENTRED", norm.centred).Define("OPERANDS", norm.operands);
  launch.Define("NOTED", norm.noted).In(x);
  for (int i = 1; i <= norm.operands; ++i) launch.In(node.input(i));
  launch.Out(y).Int(x.view.w).Int(x.view.c).Int(norm.size).Int(norm.step).Int(norm.breadth).Int(norm.rows);
  launch.Float(1.0f / static_cast<float>(norm.numbers)).Float(epsilon);
  return series.Enqueue();
}

namespace {

// layer_norm and rms_norm, which is not `centred`.
Code PlanRowNorm(Node& node, bool centred) {
  Norm norm;
  norm.centred = centred;
  norm.operands = node.input_count() - 1;
  if (norm.operands < 0 || norm.operands > 1 + (centred ? 1 : 0)) {
    return node.Fail(Code::kBadModel, "has another number of inputs");
  }
  LATHE_TRY(CheckPixels(node, norm.operands + 1, 1));
  DeviceTensor& x = node.input(0);
  DeviceTensor& y = node.output(0);
  const Shape& shape = x.shape;
  int32_t axis = 0;
  LATHE_TRY(ReadInt(node, "axis", 0, shape.rank - 1, &axis));
  bool fits = shape == y.shape;
  for (int i = 1; i <= norm.operands; ++i) {
    const Shape& operand = node.input(i).shape;
    fits = fits && operand.rank == shape.rank - axis;
    for (int j = 0; fits && j < operand.rank; ++j) fits = operand.dims[j] == shape.dims[axis + j];
  }
  if (!fits) return node.Fail(Code::kBadModel, "the shapes of its tensors do not fit each other");
  const View& view = x.view;
  norm.size = view.c;
  norm.numbers = shape.Count(axis, shape.rank);
  if (axis == shape.rank - 1) {
    norm.columns = norm.step = view.w;
    norm.breadth = view.blocks;
  } else {
    norm.breadth = view.width();
    norm.rows = shape.Count(axis, shape.rank - 2);
  }
  norm.images = view.height() / norm.rows;
  return EnqueueNorm(node, norm, y);
}

}  // namespace

LATHE_OPENCL_PLAN(layer_norm)(Node& node) { return PlanRowNorm(node, true); }

LATHE_OPENCL_PLAN(rms_norm)(Node& node) { return PlanRowNorm(node, false); }

}  // namespace opencl
}  // namespace lathe
