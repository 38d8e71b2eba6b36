// Filters that move over three spatial axes: what conv3d and deconv3d have in common.
#ifndef LATHE_KERNEL_SPATIAL_VOLUME_H_
#define LATHE_KERNEL_SPATIAL_VOLUME_H_

#include "native/kernel/check.h"
#include "native/kernel/gemm/tiles.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// Index 0 is depth, 1 vertical, 2 horizontal. All numbers are within kMaxExtent.
struct Volume {
  int64_t kernel[3];
  int64_t strides[3];
  int64_t dilations[3];
  int64_t pads[6];  // before the three axes, then behind them

  int64_t extent(int axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
};

struct VolumeState {
  FilterState filters;
  Volume window;
};

struct VolumePlan {
  int64_t threads;
};

// Everything that does not depend on shapes which may change.
inline Code PrepareVolume(PrepareContext& context, VolumeState* state) {
  LATHE_TRY(CheckArity(context, 2, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 5, "its input"));
  LATHE_TRY(CheckRank(context, context.input(1), 5, "its filter"));
  LATHE_TRY(CheckRank(context, context.output(0), 5, "its output"));
  Volume& window = state->window;
  LATHE_TRY(ReadInts(context, "strides", 3, 1, kMaxExtent, window.strides));
  LATHE_TRY(ReadInts(context, "dilations", 3, 1, kMaxExtent, window.dilations));
  LATHE_TRY(ReadInts(context, "pads", 6, 0, kMaxExtent, window.pads));
  LATHE_TRY(ReadActivation(context, &state->filters.activation));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  const Shape& filter = context.input(1).shape;
  for (int axis = 0; axis < 5; ++axis) {
    if (filter[axis] < 1 || filter[axis] > kMaxExtent) return context.Fail(Code::kBadModel, "its filter is empty");
  }
  if (filter[0] % groups != 0) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  for (int axis = 0; axis < 3; ++axis) window.kernel[axis] = filter[1 + axis];
  state->filters.filters = {groups, filter[0] / groups, filter.Count(1, 4), filter[4]};
  if (context.input_count() == 3) LATHE_TRY(CheckRank(context, context.input(2), 1, "its bias"));
  return PrepareFilters(context, context.input(1), &state->filters);
}

// Checks the shapes; `sides` is what the output's spatial axes have to be.
inline Code PlanVolume(PlanContext& context, const int64_t (&sides)[3]) {
  const VolumeState& state = *static_cast<const VolumeState*>(context.state());
  const Filters& filters = state.filters.filters;
  const Shape& in = context.input(0).shape;
  const Shape& filter = context.input(1).shape;
  const int64_t outputs = filters.groups * filters.outputs;
  if (in[4] != filters.groups * filters.depth) {
    return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  }
  bool same = filter[0] == outputs && filter[4] == filters.depth;
  for (int axis = 0; axis < 3; ++axis) same = same && filter[1 + axis] == state.window.kernel[axis];
  if (!same) return context.Fail(Code::kUnsupported, "filters whose shape changes at run time");
  if (context.input_count() == 3 && context.input(2).shape[0] != outputs) {
    return context.Fail(Code::kBadModel, "the bias does not have one element per output channel");
  }
  LATHE_TRY(CheckShape(context, 0, {5, {in[0], sides[0], sides[1], sides[2], outputs}}));
  static_cast<VolumePlan*>(context.plan())->threads = context.threads();
  return PlanTiles(context, state.filters, in[4]);
}

inline Code CheckVolumes(const PlanContext& context) {
  const Shape* shapes[] = {&context.input(0).shape, &context.output(0).shape};
  for (const Shape* shape : shapes) {
    for (int axis = 1; axis < 4; ++axis) {
      if (shape->dims[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "a volume is too large");
    }
  }
  return Code::kOk;
}

// Runs the tiles. `source(window, axis, position, tap, size)` is the input position that a tap of an output position
// reads along one axis, or -1 where there is none.
template <typename Source>
inline void RunVolume(const RunContext& context, const Source& source) {
  const VolumeState& state = context.State<VolumeState>();
  const Volume& window = state.window;
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const float* image = context.inputs[0].As<float>();
  const float* zeros = nullptr;
  const int threads = static_cast<int>(context.Plan<VolumePlan>().threads);
  TileJob job = StartTiles(context, state.filters, threads, in[4], &zeros);
  job.pixels = out.Count(0, 4);
  RunTiles(context, job, [&](int64_t pixel, int count, const float** rows) {
    for (int p = 0; p < count; ++p) {
      const int64_t line = (pixel + p) / out[3];
      const int64_t plane = line / out[2];
      const int64_t batch = plane / out[1];
      const int64_t at[3] = {plane - batch * out[1], line - plane * out[2], pixel + p - line * out[3]};
      const float** row = rows + p;
      for (int64_t i = 0; i < window.kernel[0]; ++i) {
        const int64_t z = source(window, 0, at[0], i, in[1]);
        for (int64_t j = 0; j < window.kernel[1]; ++j) {
          const int64_t y = source(window, 1, at[1], j, in[2]);
          for (int64_t k = 0; k < window.kernel[2]; ++k, row += kTileChunkPixels) {
            const int64_t x = source(window, 2, at[2], k, in[3]);
            const bool inside = z >= 0 && y >= 0 && x >= 0;
            *row = inside ? image + (((batch * in[1] + z) * in[2] + y) * in[3] + x) * in[4] : zeros;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_VOLUME_H_
