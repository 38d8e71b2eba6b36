// Transposed convolution over three spatial axes, gathered: an output element reads, per tap, the one input element
// that hits it, or zeros.
#include "native/kernel/spatial/volume.h"

namespace lathe {
namespace {

// The output padding is known from the output's shape; what the attribute says is checked against it.
struct State {
  VolumeState volume;
  int64_t output_padding[3];
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(ReadInts(context, "output_padding", 3, 0, kMaxExtent, state.output_padding));
  return PrepareVolume(context, &state.volume);
}

Code PlanRun(PlanContext& context) {
  LATHE_TRY(CheckVolumes(context));
  const State& state = *static_cast<const State*>(context.state());
  const Volume& window = state.volume.window;
  const Shape& in = context.input(0).shape;
  int64_t sides[3];
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t whole = (in[1 + axis] - 1) * window.strides[axis] + window.extent(axis) + state.output_padding[axis];
    sides[axis] = whole - window.pads[axis] - window.pads[axis + 3];
  }
  return PlanVolume(context, sides);
}

void Run(const RunContext& context) {
  RunVolume(context, [](const Volume& window, int axis, int64_t position, int64_t tap, int64_t size) {
    const int64_t reach = position + window.pads[axis] - tap * window.dilations[axis];
    if (reach < 0 || reach % window.strides[axis] != 0) return int64_t{-1};
    const int64_t source = reach / window.strides[axis];
    return source < size ? source : int64_t{-1};
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::VolumePlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
