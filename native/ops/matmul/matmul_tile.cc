// Batched matrix product with NumPy's broadcasting; neither operand is packed.
#include "native/kernel/gemm/products.h"
#include "native/kernel/gemm/tile_sums.h"

namespace lathe {
namespace {

constexpr int64_t kColumns = 64;  // of one item of parallel work, times kTilePixels rows

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  for (int i = 0; i < 2; ++i) {
    if (context.input(i).shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) { return PlanProducts(context, 0, 1, static_cast<Products*>(context.plan())); }

// Up to four rows times the columns [begin, end).
void RunTile(const Products& plan, const float* a, const float* b, int count, int64_t begin, int64_t end,
             float* output) {
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
  const Products& plan = context.Plan<Products>();
  const float* a = context.inputs[0].As<float>();
  const float* b = context.inputs[1].As<float>();
  float* output = context.outputs[0].As<float>();
  const int64_t row_tiles = DivideUp(plan.rows, kTilePixels);
  const int64_t column_tiles = DivideUp(plan.columns, kColumns);
  context.For(plan.batches() * row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / column_tiles % row_tiles * kTilePixels;
      const int64_t column = item % column_tiles * kColumns;
      const int64_t batch = item / column_tiles / row_tiles;
      const float* from_a = a + plan.OffsetOfA(batch) + row * plan.depth;
      const float* from_b = b + plan.OffsetOfB(batch);
      const int count = static_cast<int>(plan.rows - row < kTilePixels ? plan.rows - row : kTilePixels);
      const int64_t last = plan.columns - column < kColumns ? plan.columns : column + kColumns;
      RunTile(plan, from_a, from_b, count, column, last, output + (batch * plan.rows + row) * plan.columns);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .plan_size = sizeof(lathe::Products),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
