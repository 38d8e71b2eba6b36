// Axes that are made one element of: the kernel of reduce.cl.
#include "native/opencl/movement.h"
#include "native/opencl/read.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {
namespace {

// kMean: the sum divided by the count.
enum class Folding { kSum, kMean, kExtreme, kProduct };

// Rows of a tensor that lie apart by a step.
struct Rows {
  int32_t count = 1, step = 0;
};

// How a tensor is reduced: of each kind two groups of its leading axes, the outer one first.
struct Reduction {
  Rows kept[2], folded[2];
  bool folds_columns = false, folds_channels = false;
};

// `folds` has a bit for each axis. False where the rows are more than two groups of a kind.
bool Describe(const Shape& x, uint32_t folds, Reduction* reduction) {
  reduction->folds_channels = (folds >> (x.rank - 1) & 1) != 0;
  reduction->folds_columns = x.rank >= 2 && (folds >> (x.rank - 2) & 1) != 0;
  int places[2] = {1, 1};  // of kept and folded axes, the group that grows
  int32_t step = 1;
  for (int axis = x.rank - 3; axis >= 0; --axis) {
    const int32_t size = static_cast<int32_t>(x.dims[axis]);
    if (size == 1) continue;
    const int kind = static_cast<int>(folds >> axis & 1);
    Rows* groups = kind != 0 ? reduction->folded : reduction->kept;
    int& place = places[kind];
    if (groups[place].count > 1 && groups[place].step * groups[place].count != step && --place < 0) return false;
    if (groups[place].count == 1) groups[place].step = step;
    groups[place].count *= size;
    step *= size;
  }
  return true;
}

Code Enqueue(Node& node, DeviceTensor& x, const View& in, DeviceTensor& y, const View& out, const Reduction& what,
             float scale) {
  Launch launch(node, "reduce");
  const Rows(&kept)[2] = what.kept;
  const Rows(&folded)[2] = what.folded;
  const bool columns = what.folds_columns;
  launch.In(x).Out(y).Ints({in.w, in.c, out.c, !what.folds_channels, columns ? 1 : in.w, kept[1].count, kept[0].step,
                            kept[1].step, folded[0].count, folded[0].step, folded[1].count, folded[1].step,
                            columns ? in.w : 1});
  launch.Float(scale);
  return launch.Enqueue(out.w, out.height(), out.blocks);
}

// Where few results are made of many pixels, rows are reduced first, each by itself: `x` and `what` are the rest then.
Code ReduceColumns(Node& node, bool sums, DeviceTensor** x, View* in, Reduction* what) {
  const View whole = *in;
  Reduction first;
  first.folds_columns = true;
  first.kept[1] = {whole.height(), 1};
  DeviceTensor* made = nullptr;
  LATHE_TRY(node.Scratch(whole.blocks, whole.height(), &made));
  in->w = 1;
  what->folds_columns = false;
  // Means: sums might be too large for what they are stored in.
  LATHE_TRY(Enqueue(node, **x, whole, *made, *in, first, sums ? 1.0f / static_cast<float>(whole.w) : 1.0f));
  *x = made;
  return Code::kOk;
}

Code ReadAxes(const Node& node, int rank, uint32_t* folds) {
  Span<const int64_t> axes;
  LATHE_TRY(node.Ints("axes", &axes));
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank) return node.Fail(Code::kBadModel, "'axes' is out of range");
    *folds |= 1u << axis;
  }
  return Code::kOk;
}

Code EnqueueReduce(Node& node, Folding folding) {
  LATHE_TRY(CheckPixels(node, 1, 1));
  DeviceTensor* x = &node.input(0);
  DeviceTensor& y = node.output(0);
  const Shape& shape = x->shape;
  uint32_t folds = 0;
  LATHE_TRY(ReadAxes(node, shape.rank, &folds));
  const int64_t count = shape.Count();
  if (shape.rank == 0) return node.Fail(Code::kUnsupported, "reduces nothing");
  int64_t kept = 1;
  for (int axis = 0; axis < shape.rank; ++axis) kept *= (folds >> axis & 1) != 0 ? 1 : shape.dims[axis];
  Reduction what;
  if (!Describe(shape, folds, &what)) return node.Fail(Code::kUnsupported, "has too many axes");
  View in = x->view;
  if (y.shape.Count() != kept || (!what.folds_channels && y.view.c != in.c)) {
    return node.Fail(Code::kBadModel, "its output has another shape than what is left of its input");
  }
  const bool sums = folding == Folding::kSum || folding == Folding::kMean;
  float scale = folding == Folding::kMean ? static_cast<float>(kept) / static_cast<float>(count) : 1.0f;
  constexpr int32_t kFewResults = 2048, kManyPixels = 64;
  const int32_t rows = what.folded[0].count * what.folded[1].count;
  const int64_t results = int64_t{y.view.width()} * y.view.height();
  if (folding != Folding::kProduct && what.folds_columns && in.w > 1 && rows > 1 && rows * in.w > kManyPixels &&
      results < kFewResults) {
    if (sums) scale *= static_cast<float>(in.w);
    LATHE_TRY(ReduceColumns(node, sums, &x, &in, &what));
  }
  return Enqueue(node, *x, in, y, y.view, what, scale);
}

}  // namespace

LATHE_OPENCL_PLAN(reduce_sum)(Node& node) { return EnqueueReduce(node, Folding::kSum); }

LATHE_OPENCL_PLAN(reduce_mean)(Node& node) { return EnqueueReduce(node, Folding::kMean); }

LATHE_OPENCL_PLAN(reduce_extreme)(Node& node) { return EnqueueReduce(node, Folding::kExtreme); }

LATHE_OPENCL_PLAN(reduce_prod)(Node& node) { return EnqueueReduce(node, Folding::kProduct); }

}  // namespace opencl
}  // namespace lathe
