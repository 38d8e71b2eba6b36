// Transposed convolution, gathered: an output pixel reads, per tap, the one input pixel that hits it, or zeros.
#include "native/kernel/gemm/tiles.h"
#include "native/ops/deconv2d/deconv2d_phases.h"

namespace lathe {
namespace {

struct State {
  DeconvState deconv;
  FilterState filters;
};

struct Plan {
  int64_t threads;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  const DeconvState& deconv = state.deconv;
  LATHE_TRY(PrepareDeconv(context, DType::kF32, &state.deconv));
  state.filters.activation = deconv.activation;
  state.filters.filters = {deconv.groups, deconv.outputs, deconv.window.kernel[0] * deconv.window.kernel[1],
                           deconv.depth};
  return PrepareFilters(context, context.input(1), &state.filters);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  LATHE_TRY(PlanDeconv(context, state.deconv));
  static_cast<Plan*>(context.plan())->threads = context.threads();
  return PlanTiles(context, state.filters, context.input(0).shape[3]);
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
  const Window& window = state.deconv.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const int64_t step = context.inputs[0].RowStep();
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
          *row = y >= 0 && x >= 0 ? image + ((batch * in[1] + y) * in[2] + x) * step : zeros;
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
