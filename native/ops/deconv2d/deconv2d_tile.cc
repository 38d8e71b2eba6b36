// Transposed convolution, gathered: an output pixel reads, per tap, the one input pixel that hits it, or zeros.
#include "native/kernel/gemm/tiles.h"
#include "native/kernel/spatial/window.h"

namespace lathe {
namespace {

struct State {
  FilterState filters;
  Window window;
  int64_t output_padding[2];
};

struct Plan {
  int64_t threads;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 4, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  LATHE_TRY(ReadInts(context, "output_padding", 2, 0, kMaxExtent, state.output_padding));
  LATHE_TRY(ReadActivation(context, &state.filters.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 4; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  if (filter[0] % groups != 0) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  state.window.kernel[0] = filter[1];
  state.window.kernel[1] = filter[2];
  state.filters.filters = {groups, filter[0] / groups, filter[1] * filter[2], filter[3]};
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
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
  if (filter[0] != outputs || filter[1] != state.window.kernel[0] || filter[2] != state.window.kernel[1] ||
      filter[3] != filters.depth) {
    return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  }
  if (context.input_count() == 3 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  Shape expected = {4, {in[0], 0, 0, outputs}};
  for (int axis = 0; axis < 2; ++axis) {
    const Window& window = state.window;
    const int64_t whole =
        (in[1 + axis] - 1) * window.strides[axis] + WindowExtent(window, axis) + state.output_padding[axis];
    expected.dims[1 + axis] = whole - window.before[axis] - window.after[axis];
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  static_cast<Plan*>(context.plan())->threads = context.threads();
  return PlanTiles(context, state.filters, in[3]);
}

// The input position that tap `tap` carries to `position`, or -1 where there is none.
inline int64_t Source(const Window& window, int axis, int64_t position, int64_t tap, int64_t size) {
  const int64_t reach = position + window.before[axis] - tap * window.dilations[axis];
  if (reach < 0 || reach % window.strides[axis] != 0) return -1;
  const int64_t source = reach / window.strides[axis];
  return source < size ? source : -1;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Window& window = state.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const float* zeros = nullptr;
  TileJob job = StartTiles(context, state.filters, static_cast<int>(context.Plan<Plan>().threads), in[3], &zeros);
  job.pixels = out.Count(0, 3);
  RunTiles(context, job, [&](int64_t pixel, int count, const float** rows) {
    for (int p = 0; p < count; ++p) {
      const int64_t line = (pixel + p) / out[2];
      const int64_t batch = line / out[1];
      const float** row = rows + p;
      for (int64_t i = 0; i < window.kernel[0]; ++i) {
        const int64_t y = Source(window, 0, line - batch * out[1], i, in[1]);
        for (int64_t j = 0; j < window.kernel[1]; ++j, row += kTileChunkPixels) {
          const int64_t x = Source(window, 1, pixel + p - line * out[2], j, in[2]);
          *row = y >= 0 && x >= 0 ? image + ((batch * in[1] + y) * in[2] + x) * in[3] : zeros;
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
};
