// Convolution, any groups and dilation: filters packed at create, tiles of four pixels times eight outputs.
#include "native/kernel/gemm/tiles.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

struct State {
  FilterState filters;
  Window window;
};

struct Plan {
  int64_t threads;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadActivation(context, &state.filters.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  FilterShape filter = {};
  LATHE_TRY(ReadFilterShape(context, 4, groups, kMaxExtent, &filter));
  state.window.kernel[0] = filter.height;
  state.window.kernel[1] = filter.width;
  state.filters.filters = FiltersOf(filter, groups);
  if (context.input_count() > 2) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  return PrepareFilters(context, context.input(1), &state.filters);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Filters& filters = state.filters.filters;
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  const int64_t outputs = filters.groups * filters.outputs;
  if (in[3] != filters.groups * filters.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  const bool constant = context.input(1).is_constant();
  if (!constant && (filter[0] != outputs || filter[1] != state.window.kernel[0] ||
                    filter[2] != state.window.kernel[1] || filter[3] != filters.depth)) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (context.input_count() > 2 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
  LATHE_TRY(CheckShape(context, 0, expected));
  for (int axis = 0; context.input_count() > 3 && axis < 4; ++axis) {
    if (context.input(3).shape[axis] != expected.dims[axis]) {
      return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
    }
  }
  static_cast<Plan*>(context.plan())->threads = context.threads();
  return PlanTiles(context, state.filters, in[3]);
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Window& window = state.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int64_t step = context.inputs[0].RowStep();
  const float* image = context.inputs[0].As<float>();
  const float* zeros = nullptr;
  TileJob job = StartTiles(context, state.filters, static_cast<int>(context.Plan<Plan>().threads), in[3], &zeros);
  job.pixels = out.Count(0, 3);
  job.residual = context.input_count > 3 ? context.inputs[3].As<float>() : nullptr;
  RunTiles(context, job, [&](int64_t pixel, int count, const float** rows) {
    for (int p = 0; p < count; ++p) {
      const int64_t line = (pixel + p) / out[2];
      const int64_t batch = line / out[1];
      const int64_t left = (pixel + p - line * out[2]) * window.strides[1] - window.before[1];
      const int64_t top = (line - batch * out[1]) * window.strides[0] - window.before[0];
      const float** row = rows + p;
      for (int64_t i = 0; i < window.kernel[0]; ++i) {
        const int64_t y = top + i * window.dilations[0];

        for (int64_t j = 0; j < window.kernel[1]; ++j, row += kTileChunkPixels) {
          const int64_t x = left + j * window.dilations[1];
          const bool inside = y >= 0 && y < in[1] && x >= 0 && x < in[2];
          *row = inside ? image + ((batch * in[1] + y) * in[2] + x) * step : zeros;
        }
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::kTilePackings,
};
