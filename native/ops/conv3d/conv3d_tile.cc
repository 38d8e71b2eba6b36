// Convolution over three spatial axes, any groups and dilation, on the tiles of conv2d.
#include "native/kernel/spatial/volume.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) { return PrepareVolume(context, static_cast<VolumeState*>(context.state())); }

Code PlanRun(PlanContext& context) {
  LATHE_TRY(CheckVolumes(context));
  const Volume& window = static_cast<const VolumeState*>(context.state())->window;
  const Shape& in = context.input(0).shape;
  int64_t sides[3];
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t room = in[1 + axis] + window.pads[axis] + window.pads[axis + 3] - window.extent(axis);
    sides[axis] = room < 0 ? 0 : room / window.strides[axis] + 1;
  }
  return PlanVolume(context, sides);
}

void Run(const RunContext& context) {
  RunVolume(context, [](const Volume& window, int axis, int64_t position, int64_t tap, int64_t size) {
    const int64_t source = position * window.strides[axis] - window.pads[axis] + tap * window.dilations[axis];
    return source >= 0 && source < size ? source : int64_t{-1};
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::VolumeState),
    .plan_size = sizeof(lathe::VolumePlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
