// Slices of a tensor, each picked by a row of indices into the axes behind the batch. Run-time indices outside are
// limited to their axes.
#include "native/kernel/loops/copy.h"
#include "native/kernel/loops/indices.h"

namespace lathe {
namespace {

struct State {
  int64_t batch_dims;
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  const Tensor& x = context.input(0);
  const int rows_rank = context.input(1).shape.rank - 1;
  if (SizeOf(x.dtype) == 0 || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  LATHE_TRY(CheckIndices(context, 1));
  const int most = rows_rank < x.shape.rank ? rows_rank : x.shape.rank;
  return ReadInt(context, "batch_dims", 0, most, &static_cast<State*>(context.state())->batch_dims);
}

Code PlanRun(PlanContext& context) {
  const int batch = static_cast<int>(static_cast<const State*>(context.state())->batch_dims);
  const Shape& in = context.input(0).shape;
  const Tensor& indices = context.input(1);
  const int last = indices.shape.rank - 1;
  const int64_t depth = indices.shape[last];
  if (depth < 1 || depth > in.rank - batch) {
    return context.Fail(Code::kBadModel, "its rows of indices have a wrong length");
  }
  const int taken = batch + static_cast<int>(depth);
  if (last + in.rank - taken > kMaxRank) return context.Fail(Code::kBadModel, "its rank is too large");
  Shape expected = {};
  for (int i = 0; i < last; ++i) expected.dims[expected.rank++] = indices.shape[i];
  for (int i = taken; i < in.rank; ++i) expected.dims[expected.rank++] = in[i];
  for (int i = 0; i < batch; ++i) {
    if (in[i] != indices.shape[i]) return context.Fail(Code::kBadModel, "its batches differ");
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  for (int i = 0; i < depth; ++i) {
    if (in[batch + i] == 0 && expected.Count() > 0) return context.Fail(Code::kBadModel, "it gathers from nothing");
    LATHE_TRY(CheckConstantIndices(context, indices, in[batch + i], i, depth));
  }
  return Code::kOk;
}

void Run(const RunContext& context) {
  const int batch = static_cast<int>(context.State<State>().batch_dims);
  const Shape& in = context.inputs[0].shape;
  const Tensor& indices = context.inputs[1];
  const int depth = static_cast<int>(indices.shape[-1]);
  const int64_t rows = indices.shape.Count() / depth;
  const int64_t rows_of_sample = indices.shape.Count(batch, indices.shape.rank - 1);
  const int64_t bytes = in.Count(batch + depth, in.rank) * static_cast<int64_t>(SizeOf(context.inputs[0].dtype));
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  if (rows == 0 || bytes == 0) return;
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(rows, grain, [=, &indices, &in](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t place = row / rows_of_sample;
      for (int i = 0; i < depth; ++i) {
        const int64_t size = in[batch + i];
        place = place * size + Limited(IndexAt(indices, row * depth + i), size);
      }
      memcpy(to + row * bytes, from + place * bytes, static_cast<size_t>(bytes));
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
