// Batched matrix product with NumPy's broadcasting; neither operand is packed.
#include "native/core/tiles.h"

namespace lathe {
namespace {

constexpr int64_t kColumns = 64;  // of one item of parallel work, times kTilePixels rows

// a is [batches, rows, depth], b [batches, depth, columns]; a batch stride of 0 is broadcast.
struct Plan {
  int64_t rows;
  int64_t depth;
  int64_t columns;
  int32_t batch_rank;
  int64_t batch_dims[kMaxRank];
  int64_t a_strides[kMaxRank];
  int64_t b_strides[kMaxRank];
};

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  for (int i = 0; i < 2; ++i) {
    if (context.input(i).shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  }
  return Code::kOk;
}

// The batch dimensions of `shape` (all but the last two), aligned to the right of `rank` dimensions.
void AddBatch(const Shape& shape, int rank, int64_t matrix, Plan* plan, int64_t* strides, bool* fits) {
  const int own = shape.rank > 2 ? shape.rank - 2 : 0;
  int64_t stride = matrix;
  for (int axis = own - 1; axis >= 0; --axis) {
    const int at = rank - own + axis;
    const int64_t size = shape.dims[axis];
    strides[at] = size == 1 ? 0 : stride;
    stride *= size;
    if (size == 1) continue;
    if (plan->batch_dims[at] != 1 && plan->batch_dims[at] != size) *fits = false;
    plan->batch_dims[at] = size;
  }
}

Code PlanRun(PlanContext& context) {
  Plan& plan = *static_cast<Plan*>(context.plan());
  const Shape& a = context.input(0).shape;
  const Shape& b = context.input(1).shape;
  plan.rows = a.rank > 1 ? a[-2] : 1;
  plan.depth = a[-1];
  plan.columns = b.rank > 1 ? b[-1] : 1;
  if ((b.rank > 1 ? b[-2] : b[0]) != plan.depth) return context.Fail(Code::kBadModel, "its inputs differ in depth");
  const int larger = a.rank > b.rank ? a.rank : b.rank;
  plan.batch_rank = larger > 2 ? larger - 2 : 0;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    plan.batch_dims[axis] = 1;
    plan.a_strides[axis] = plan.b_strides[axis] = 0;
  }
  bool fits = true;
  AddBatch(a, plan.batch_rank, plan.rows * plan.depth, &plan, plan.a_strides, &fits);
  AddBatch(b, plan.batch_rank, plan.depth * plan.columns, &plan, plan.b_strides, &fits);
  if (!fits) return context.Fail(Code::kBadModel, "its batch dimensions do not broadcast");
  Shape expected = {};
  for (; expected.rank < plan.batch_rank; ++expected.rank) {
    expected.dims[expected.rank] = plan.batch_dims[expected.rank];
  }
  if (a.rank > 1) expected.dims[expected.rank++] = plan.rows;
  if (b.rank > 1) expected.dims[expected.rank++] = plan.columns;
  return CheckShape(context, 0, expected);
}

// Up to four rows times the columns [begin, end).
void RunTile(const Plan& plan, const float* a, const float* b, int count, int64_t begin, int64_t end, float* output) {
  const float* rows[kTilePixels];
  for (int p = 0; p < kTilePixels; ++p) rows[p] = a + (p < count ? p : 0) * plan.depth;
  int64_t column = begin;
  for (; column + kTileOutputs <= end; column += kTileOutputs) {
    TileSums tile;
    const auto sum = count == 1 ? SumTile1 : SumTile4;
    sum(rows, 0, 1, plan.depth, b + column, plan.columns, &tile);
    for (int p = 0; p < count; ++p) {
      Store4(output + p * plan.columns + column, tile.sums[p][0]);
      Store4(output + p * plan.columns + column + 4, tile.sums[p][1]);
    }
  }
  for (; column < end; ++column) {
    for (int p = 0; p < count; ++p) {
      float sum = 0.0f;
      for (int64_t k = 0; k < plan.depth; ++k) sum += rows[p][k] * b[k * plan.columns + column];
      output[p * plan.columns + column] = sum;
    }
  }
}

void Run(const RunContext& context) {
  const Plan& plan = context.Plan<Plan>();
  const float* a = context.inputs[0].As<float>();
  const float* b = context.inputs[1].As<float>();
  float* output = context.outputs[0].As<float>();
  int64_t batches = 1;
  for (int axis = 0; axis < plan.batch_rank; ++axis) batches *= plan.batch_dims[axis];
  const int64_t row_tiles = DivideUp(plan.rows, kTilePixels);
  const int64_t column_tiles = DivideUp(plan.columns, kColumns);
  context.For(batches * row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / column_tiles % row_tiles * kTilePixels;
      const int64_t column = item % column_tiles * kColumns;
      const int64_t batch = item / column_tiles / row_tiles;
      const float* from_a = a + row * plan.depth;
      const float* from_b = b;
      int64_t index = batch;
      for (int axis = plan.batch_rank - 1; axis >= 0; --axis) {
        from_a += index % plan.batch_dims[axis] * plan.a_strides[axis];
        from_b += index % plan.batch_dims[axis] * plan.b_strides[axis];
        index /= plan.batch_dims[axis];
      }
      const int count = static_cast<int>(plan.rows - row < kTilePixels ? plan.rows - row : kTilePixels);
      const int64_t last = plan.columns - column < kColumns ? plan.columns : column + kColumns;
      RunTile(plan, from_a, from_b, count, column, last, output + (batch * plan.rows + row) * plan.columns);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(matmul_f32_tile__portable) = {
    "matmul_f32_tile__portable", "matmul", 0, sizeof(lathe::Plan), -1, lathe::Prepare, lathe::PlanRun, lathe::Run};
