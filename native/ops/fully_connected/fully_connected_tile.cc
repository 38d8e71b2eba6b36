// x [..., K] times w [N, K] transposed: the tiles of a convolution with one tap.
#include "native/kernel/gemm/tiles.h"

namespace lathe {
namespace {

struct Plan {
  int64_t threads;
};

Code Prepare(PrepareContext& context) {
  FilterState& state = *static_cast<FilterState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  const int rank = context.input(0).shape.rank;
  if (rank < 1) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  LATHE_TRY(ReadActivation(context, &state.activation));
  FilterShape weight = {};
  LATHE_TRY(ReadFilterShape(context, 2, 1, kMaxPackedElements, &weight));
  if (weight.height * weight.width != 1) return context.Fail(Code::kBadModel, "its weight has more than one tap");
  state.filters = FiltersOf(weight, 1);
  return PrepareFilters(context, context.input(1), &state);
}

Code PlanRun(PlanContext& context) {
  const FilterState& state = *static_cast<const FilterState*>(context.state());
  const Filters& filters = state.filters;
  const Shape& in = context.input(0).shape;
  const Shape& weight = context.input(1).shape;
  if (!context.input(1).is_constant() && (weight[0] != filters.outputs || weight[1] != filters.depth)) {
    return context.Fail(Code::kUnsupported, "weights whose shape changes at run time");
  }
  if (in[-1] != filters.depth) return context.Fail(Code::kBadModel, "input and weight differ in depth");
  if (context.input_count() == 3 && context.input(2).shape[0] != filters.outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output");
  }
  Shape expected = in;
  expected.dims[in.rank - 1] = filters.outputs;
  LATHE_TRY(CheckShape(context, 0, expected));
  static_cast<Plan*>(context.plan())->threads = context.threads();
  return PlanTiles(context, state, 0);
}

void Run(const RunContext& context) {
  const FilterState& state = context.State<FilterState>();
  const Shape& in = context.inputs[0].shape;
  const float* input = context.inputs[0].As<float>();
  const float* zeros = nullptr;
  TileJob job = StartTiles(context, state, static_cast<int>(context.Plan<Plan>().threads), 0, &zeros);
  job.pixels = in.Count(0, in.rank - 1);
  RunTiles(context, job, [&](int64_t pixel, int count, const float** rows) {
    for (int p = 0; p < count; ++p) rows[p] = input + (pixel + p) * state.filters.depth;
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::FilterState),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::kTilePackings,
};
