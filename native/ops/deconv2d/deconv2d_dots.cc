// Transposed convolution to few channels: a vector holds elements of depth, and its lanes are added up at the end.
#include "native/kernel/gemm/dots.h"
#include "native/kernel/gemm/job_items.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"
#include "native/ops/deconv2d/deconv2d_phases.h"

namespace lathe {
namespace {

constexpr int kDotChunk = 64;         // pixels whose pointers are at hand
constexpr int64_t kDotColumns = 512;  // pixels of all phases of an item of work, as their strides

struct DotState {
  DeconvState phases;
  int64_t columns;  // taps of a line that were merged, or 1
  float* packed;    // [phase][tap][vectors of depth][outputs][kLanes]
};

struct DotPlan {
  int64_t threads;
  int64_t table;  // pointers of a thread
};

// Pixels of a phase.
struct DotJob {
  const float* const* rows;  // for each tap kDotChunk pointers
  int64_t taps;
  int64_t depth;
  const float* weights;
  const float* start;  // per output a vector whose sum is the bias
  float* output;
  int64_t step;  // from pixel to pixel
  int count;
};

template <int pixels, int sums>
inline void SumDots(const DotJob& job, int first, Vec (&all)[pixels * sums]) {
#pragma GCC unroll 12
  for (int i = 0; i < pixels * sums; ++i) all[i] = Load(job.start + i % sums * kLanes);
  const float* weights = job.weights;
  const float* const* rows = job.rows + first;
  for (int64_t tap = 0; tap < job.taps; ++tap, rows += kDotChunk) {
    weights = AddDots<pixels, sums>(rows, job.depth, weights, all);
  }
}

template <int pixels, int sums>
void RunDotJob(const DotJob& job) {
  Vec all[pixels * sums];
  float* to = job.output;
  for (int first = 0; first < job.count; first += pixels, to += pixels * job.step) {
    SumDots<pixels, sums>(job, first, all);
    const int left = job.count - first;
    if (left >= pixels && job.step == sums) {
      StoreDots(to, all);
      continue;
    }
    float results[pixels * sums];
    StoreDots(results, all);
    for (int p = 0; p < pixels && p < left; ++p) memcpy(to + p * job.step, results + p * sums, sums * sizeof(float));
  }
}

struct DotChoice {
  int pixels;  // whose rows are read at once
  void (*run)(const DotJob& job);
};

inline DotChoice ChooseDots(int64_t sums) {
  switch (sums) {
    case 1:
      return {8, RunDotJob<8, 1>};
    case 2:
      return {4, RunDotJob<4, 2>};
    case 3:
      return {4, RunDotJob<4, 3>};
    default:
      return {2, RunDotJob<2, 4>};
  }
}

inline int64_t DepthVectors(const DeconvState& phases) { return DivideUp(phases.depth, kLanes); }
inline int64_t TapFloats(const DeconvState& phases) { return DepthVectors(phases) * phases.outputs * kLanes; }

__attribute__((cold)) void PackDots(const DotState& state, const float* from, float* to) {
  const DeconvState& phases = state.phases;
  const Window& window = phases.window;
  const int64_t outputs = phases.outputs / state.columns, width = window.kernel[1] * state.columns;
  for (int64_t i = 0; i < window.kernel[0]; ++i) {
    const TapPlace row(window, 0, i);
    for (int64_t j = 0; j < window.kernel[1]; ++j) {
      const TapPlace column(window, 1, j);
      const int64_t place = row.before * window.kernel[1] + row.taps * column.before + row.rank * column.taps;
      float* tap = to + (place + column.rank) * TapFloats(phases);
      for (int64_t n = 0; n < phases.outputs; ++n) {
        const int64_t x = j + n / outputs;
        const float* source = from + ((n % outputs * window.kernel[0] + i) * width + x) * phases.depth;
        for (int64_t k = 0; k < phases.depth; ++k) {
          tap[(k / kLanes * phases.outputs + n) * kLanes + k % kLanes] = source[k];
        }
      }
    }
  }
}

__attribute__((cold)) Code PrepareDots(PrepareContext& context) {
  DotState& state = *static_cast<DotState*>(context.state());
  DeconvState& phases = state.phases;
  LATHE_TRY(PrepareDeconv(context, kElementType, &phases));
  state.columns = 1;
  if (MergesColumns(phases) && phases.outputs * phases.window.kernel[1] <= kMostSums) {
    state.columns = phases.window.kernel[1];
    phases = Merged(phases);
  }
  const Tensor& filters = context.input(1);
  if (phases.groups != 1 || phases.outputs > kMostSums || !filters.is_constant())
    return context.Fail(Code::kUnsupported, "more than a few outputs");
  // Room is cleared: what fills up the last vector is zero.
  LATHE_TRY(
      AllocateArray(context, phases.window.kernel[0] * phases.window.kernel[1] * TapFloats(phases), &state.packed));
  PackDots(state, filters.As<float>(), state.packed);
  return Code::kOk;
}

__attribute__((cold)) Code PlanDots(PlanContext& context) {
  const DotState& state = *static_cast<const DotState*>(context.state());
  LATHE_TRY(PlanDeconv(context, Unmerged(state.phases, state.columns)));
  DotPlan& plan = *static_cast<DotPlan*>(context.plan());
  plan.threads = context.threads();
  plan.table = MostTaps(state.phases.window) * kDotChunk;
  const int64_t floats = state.phases.depth + kMostSums * kLanes;
  return RequestScratch(context, plan.threads * plan.table * static_cast<int64_t>(sizeof(float*)) +
                                     floats * static_cast<int64_t>(sizeof(float)));
}

// Columns [begin, end) of one phase of a line.
inline void RunPhase(const RunContext& context, const float* zeros, const float** table, const AxisPhase& rows,
                     const AxisPhase& columns, int64_t line, int64_t begin, int64_t end, float* to) {
  const DotState& state = context.State<DotState>();
  const DeconvState& phases = state.phases;
  const DotChoice choice = ChooseDots(phases.outputs);
  DotJob job = {};
  job.rows = table;
  job.taps = rows.taps * columns.taps;
  job.depth = phases.depth;
  job.weights = state.packed + (rows.before * phases.window.kernel[1] + rows.taps * columns.before) * TapFloats(phases);
  job.start = zeros + phases.depth;
  job.step = phases.window.strides[1] * phases.outputs;
  for (int64_t first = begin; first < end; first += kDotChunk) {
    job.count = static_cast<int>(end - first < kDotChunk ? end - first : kDotChunk);
    job.output = to + first * job.step;
    LocatePhase<kDotChunk>(phases.window, context.inputs[0], zeros, rows, columns, line * columns.size + first,
                           job.count, table);
    for (int64_t tap = 0; tap < job.taps; ++tap) {
      for (int p = job.count; p % choice.pixels != 0; ++p) table[tap * kDotChunk + p] = zeros;
    }
    choice.run(job);
  }
}

void RunDots(const RunContext& context) {
  const DotState& state = context.State<DotState>();
  const DotPlan& plan = context.Plan<DotPlan>();
  const DeconvState& phases = state.phases;
  const Window& window = phases.window;
  const Shape& out = context.outputs[0].shape;
  if (out.Count() == 0) return;
  const int64_t width = out[2] / state.columns, most_columns = DivideUp(width, window.strides[1]);
  const int64_t segments = DivideUp(most_columns, kDotColumns), column_phases = PhaseCount(window, 1, width);
  const float** const tables = static_cast<const float**>(context.scratch);
  float* const zeros = reinterpret_cast<float*>(tables + plan.threads * plan.table);
  float* const start = zeros + phases.depth;
  memset(zeros, 0, static_cast<size_t>(phases.depth + kMostSums * kLanes) * sizeof(float));
  for (int64_t n = 0; context.input_count > 2 && n < phases.outputs; ++n) {
    start[n * kLanes] = context.inputs[2].As<float>()[n % (phases.outputs / state.columns)];
  }
  context.For(out[0] * out[1] * segments, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t line = index / segments, y = line % out[1];
      const int64_t first = (index - line * segments) * kDotColumns;
      float* const output = context.outputs[0].As<float>() + line * width * phases.outputs;
      const AxisPhase rows = PhaseOf(window, 0, y % window.strides[0], out[1]);
      for (int64_t phase = 0; phase < column_phases; ++phase) {
        const AxisPhase columns = PhaseOf(window, 1, phase, width);
        const int64_t last = first + kDotColumns < columns.size ? first + kDotColumns : columns.size;
        RunPhase(context, zeros, tables + thread * plan.table, rows, columns,
                 line / out[1] * rows.size + y / window.strides[0], first, last, output + phase * phases.outputs);
      }
      const int64_t from = first * window.strides[1], to = (first + kDotColumns) * window.strides[1];
      ActivateAll(phases.activation, output + from * phases.outputs,
                  ((to < width ? to : width) - from) * phases.outputs);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DotState),
    .plan_size = sizeof(lathe::DotPlan),
    .prepare = lathe::PrepareDots,
    .plan = lathe::PlanDots,
    .run = lathe::RunDots,
};
