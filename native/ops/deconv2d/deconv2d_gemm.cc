// Transposed convolution as products of gathered rows with packed filters, one for each phase of the strides.
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/ops/deconv2d/deconv2d_phases.h"

namespace lathe {
namespace {

struct GemmState {
  DeconvState phases;  // with merged columns, where that fills panels better
  int64_t columns;     // taps of a line that were merged, or 1
  Element* packed;     // null: not constant
};

struct GemmPlan {
  int64_t threads;
  int64_t thread_bytes;
  int64_t zeros;  // elements
};

// Narrower images have chunks of more than one line, whose results take a detour.
constexpr int64_t kDirectColumns = kChunkPixels / 2;
constexpr int64_t kPixelStep = kChunkPixels % 12 == 0 ? 12 : kChunkPixels % 14 == 0 ? 14 : 8;
static_assert(kChunkPixels % kPixelStep == 0, "chunks are rounded up to it");
constexpr int64_t kPanelStep = 4;

// Of one phase.
inline PanelShape ShapeOf(const DeconvState& state, int64_t taps) {
  return {state.groups, state.outputs, taps, state.depth};
}

// From filters [groups * outputs, height, width, depth] to panels, phase after phase. Fills every element.
__attribute__((cold)) void PackPhases(const GemmState& state, const Element* from, Element* to) {
  const DeconvState& phases = state.phases;
  const Window& window = phases.window;
  const int64_t outputs = phases.outputs / state.columns, width = window.kernel[1] * state.columns;
  const int64_t of_tap = ShapeOf(phases, 1).elements(), panels = ShapeOf(phases, 1).panels();
  for (int64_t i = 0; i < window.kernel[0]; ++i) {
    const TapPlace row(window, 0, i);
    for (int64_t j = 0; j < window.kernel[1]; ++j) {
      const TapPlace column(window, 1, j);
      const PanelShape shape = ShapeOf(phases, row.taps * column.taps);
      Element* phase = to + (row.before * window.kernel[1] + row.taps * column.before) * of_tap;
      phase += (row.rank * column.taps + column.rank) * phases.depth * kPanelWidth;
      for (int64_t panel = 0; panel < shape.groups * panels; ++panel, phase += shape.panel_elements()) {
        const int64_t group = panel / panels;
        for (int64_t lane = 0; lane < kPanelWidth; ++lane) {
          const int64_t output = panel % panels * kPanelWidth + lane;
          const bool exists = output < phases.outputs;
          const int64_t filter = group * outputs + output % outputs, x = j + output / outputs % state.columns;
          const Element* source = from + ((filter * window.kernel[0] + i) * width + x) * phases.depth;
          for (int64_t k = 0; k < phases.depth; ++k) phase[k * kPanelWidth + lane] = exists ? source[k] : 0.0f;
        }
      }
    }
  }
}

inline int64_t PackedElementsOf(const GemmState& state) {
  const Window& window = state.phases.window;
  return ShapeOf(state.phases, window.kernel[0] * window.kernel[1]).elements();
}

__attribute__((cold)) Code PrepareGemm(PrepareContext& context) {
  GemmState& state = *static_cast<GemmState*>(context.state());
  LATHE_TRY(PrepareDeconv(context, kElementType, &state.phases));
  state.columns = 1;
  if (MergesColumns(state.phases) && state.phases.outputs % kPanelWidth != 0) {
    state.columns = state.phases.window.kernel[1];
    state.phases = Merged(state.phases);
  }
  const Tensor& filters = context.input(1);
  if (!filters.is_constant()) return Code::kOk;
  LATHE_TRY(AllocateArray(context, PackedElementsOf(state), &state.packed));
  PackPhases(state, filters.As<Element>(), state.packed);
  return Code::kOk;
}

// The memory of a thread: pointers, inputs in the order of the tiles, results that take a detour.
struct ThreadMemory {
  int64_t inputs;  // where they begin, in bytes
  int64_t results;
  int64_t bytes;

  explicit ThreadMemory(const DeconvState& state) {
    const PanelShape shape = ShapeOf(state, MostTaps(state.window));
    const auto sized = [](int64_t count, size_t size) { return DivideUp(count * static_cast<int64_t>(size), 64) * 64; };
    inputs = sized(shape.taps * kChunkPixels, sizeof(Element*));
    results = inputs + sized(PackedInputElements(shape, kChunkPixels), sizeof(Element));
    bytes = results + sized(kChunkPixels * shape.groups * shape.outputs, sizeof(Element));
  }
};

__attribute__((cold)) Code PlanGemm(PlanContext& context) {
  const GemmState& state = *static_cast<const GemmState*>(context.state());
  const DeconvState& phases = state.phases;
  LATHE_TRY(PlanDeconv(context, Unmerged(phases, state.columns)));
  GemmPlan& plan = *static_cast<GemmPlan*>(context.plan());
  plan.threads = context.threads();
  plan.thread_bytes = ThreadMemory(phases).bytes;
  const int64_t channels = phases.groups * phases.depth;
  const int64_t lanes = phases.groups * ShapeOf(phases, 1).panels() * kPanelWidth;
  plan.zeros = channels > lanes ? channels : lanes;
  const int64_t elements = plan.zeros + phases.outputs + (state.packed == nullptr ? PackedElementsOf(state) : 0);
  return RequestScratch(context, plan.thread_bytes * plan.threads + elements * static_cast<int64_t>(sizeof(Element)));
}

// How the output is cut.
struct PhaseGrid {
  int64_t lines;    // of an image
  int64_t columns;  // of a line, as many merged ones as one
  int64_t step;     // elements from one to the next
  bool direct;
  int64_t row_phases;
  int64_t column_phases;
  int64_t most_rows;  // of a phase
  int64_t segments;   // lines of all images, or 1 for all of them together

  PhaseGrid(const GemmState& state, const Tensor& output) {
    const Window& window = state.phases.window;
    const Shape& out = output.shape;
    lines = out[1];
    columns = out[2] / state.columns;
    step = output.RowStep() * state.columns;
    row_phases = PhaseCount(window, 0, lines);
    column_phases = PhaseCount(window, 1, columns);
    most_rows = DivideUp(lines, window.strides[0]);
    direct = MostColumns(window) >= kDirectColumns && (state.columns == 1 || output.RowStep() == out[3]);
    segments = direct ? out[0] * most_rows : 1;
  }
  int64_t MostColumns(const Window& window) const { return DivideUp(columns, window.strides[1]); }
};

// A part of a phase that a thread has at hand.
struct PhaseChunk {
  int64_t number;  // -1: none
  AxisPhase rows;
  AxisPhase columns;
  int64_t pixel;  // the first, counted through the phase
  PanelChunk inputs;
  PanelJob job;
};

// What all threads share.
struct GemmRun {
  const GemmState& state;
  const RunContext& context;
  const PhaseGrid grid;
  const JobItems items;  // of a segment of a phase
  const Element* zeros = nullptr;
  PanelJob job = {};

  GemmRun(const RunContext& context, const GemmState& state)
      : state(state), context(context), grid(state, context.outputs[0]), items(ItemsOf(state.phases)) {}

  JobItems ItemsOf(const DeconvState& phases) const {
    const int64_t columns = grid.MostColumns(phases.window), images = context.outputs[0].shape[0];
    const PanelShape shape = ShapeOf(phases, 1);
    return {grid.direct ? columns : images * grid.most_rows * columns, shape.groups * shape.panels(), kChunkPixels,
            kPixelStep, kPanelStep};
  }
  int64_t count() const { return grid.segments * grid.row_phases * grid.column_phases * items.count; }
};

// Makes the inputs of item `index` those at hand; false where it has no pixels, as phases differ in size.
bool FetchChunk(const GemmRun& run, int64_t index, const JobItem& item, PhaseChunk* chunk) {
  const PhaseGrid& grid = run.grid;
  const DeconvState& phases = run.state.phases;
  const Window& window = phases.window;
  int64_t rest = index / run.items.count;
  chunk->columns = PhaseOf(window, 1, rest % grid.column_phases, grid.columns);
  rest /= grid.column_phases;
  chunk->rows = PhaseOf(window, 0, rest % grid.row_phases, grid.lines);
  const int64_t segment = rest / grid.row_phases, line = segment % grid.most_rows;
  const int64_t images = run.context.outputs[0].shape[0], lines = grid.direct ? 1 : images * chunk->rows.size;
  const int64_t left = lines * chunk->columns.size - item.pixel;
  if (left <= 0 || (grid.direct && line >= chunk->rows.size)) return false;
  chunk->pixel = item.pixel;
  if (grid.direct) chunk->pixel += (segment / grid.most_rows * chunk->rows.size + line) * chunk->columns.size;
  chunk->inputs.count = static_cast<int>(item.count < left ? item.count : left);
  PanelJob& job = chunk->job;
  const int64_t taps = chunk->rows.taps * chunk->columns.taps;
  const int64_t before = chunk->rows.before * window.kernel[1] + chunk->rows.taps * chunk->columns.before;
  job.shape = ShapeOf(phases, taps);
  job.packed = run.job.packed + before * ShapeOf(phases, 1).elements();
  if (taps == 0) {  // zero times zero
    job.shape.taps = job.shape.depth = 1;
    job.packed = run.zeros;
    for (int p = 0; p < chunk->inputs.count; ++p) chunk->inputs.rows[p] = run.zeros;
  } else {
    LocatePhase<kChunkPixels>(window, run.context.inputs[0], run.zeros, chunk->rows, chunk->columns, chunk->pixel,
                              chunk->inputs.count, chunk->inputs.rows);
  }
  PackInputs(job, chunk->inputs);
  return true;
}

// Where a pixel of a phase has its outputs.
inline Element* PlaceOf(const GemmRun& run, const PhaseChunk& chunk, const PhasePlace& place) {
  const Window& window = run.state.phases.window;
  const int64_t y = chunk.rows.first - window.before[0] + place.line * window.strides[0];
  const int64_t x = chunk.columns.first - window.before[1] + place.column * window.strides[1];
  return run.job.output + ((place.batch * run.grid.lines + y) * run.grid.columns + x) * run.grid.step;
}

// Outputs [begin, end) of the chunk's pixels, from where all pixels have them side by side to their places.
void PlaceResults(const GemmRun& run, const PhaseChunk& chunk, int64_t begin, int64_t end) {
  const DeconvState& phases = run.state.phases;
  const int64_t pitch = run.context.outputs[0].RowStep(), channels = phases.groups * phases.outputs;
  const int64_t of_column = channels / run.state.columns;
  const Element* from = chunk.job.output;
  ForLines(
      chunk.pixel, chunk.inputs.count, chunk.rows, chunk.columns, [&](const PhasePlace& place, int64_t, int64_t count) {
        Element* to = PlaceOf(run, chunk, place);
        for (int64_t i = 0; i < count; ++i, from += channels, to += phases.window.strides[1] * run.grid.step) {
          for (int64_t n = begin; n < end;) {
            const int64_t column = n / of_column, border = (column + 1) * of_column;
            const int64_t last = border < end ? border : end;
            memcpy(to + n + column * (pitch - of_column), from + n, static_cast<size_t>(last - n) * sizeof(Element));
            n = last;
          }
        }
      });
}

void RunItems(const GemmRun& run, int64_t begin, int64_t end, char* memory) {
  const DeconvState& phases = run.state.phases;
  const ThreadMemory parts(phases);
  const int64_t panels = ShapeOf(phases, 1).panels();
  PhaseChunk chunk = {};
  chunk.number = -1;
  chunk.job = run.job;
  chunk.inputs.rows = reinterpret_cast<const Element**>(memory);
  chunk.inputs.packed = reinterpret_cast<Element*>(memory + parts.inputs);
  bool found = false;
  for (int64_t index = begin; index < end; ++index) {
    const JobItem item = run.items[index % run.items.count];
    const int64_t number = index / run.items.splits;
    if (number != chunk.number) found = FetchChunk(run, index, item, &chunk);
    chunk.number = number;
    if (!found) continue;
    if (run.grid.direct) {
      chunk.job.output = PlaceOf(run, chunk, PhasePlace(chunk.pixel, chunk.rows, chunk.columns));
      chunk.job.output_step = run.grid.step * phases.window.strides[1];
    } else {
      chunk.job.output = reinterpret_cast<Element*>(memory + parts.results);
    }
    RunPanelRange(chunk.job, chunk.inputs, item.begin, item.end);
    if (run.grid.direct) continue;
    const auto channel = [&](int64_t panel) { return panel / panels * phases.outputs + panel % panels * kPanelWidth; };
    PlaceResults(run, chunk, channel(item.begin), channel(item.end));
  }
}

void RunGemm(const RunContext& context) {
  const GemmState& state = context.State<GemmState>();
  const GemmPlan& plan = context.Plan<GemmPlan>();
  const DeconvState& phases = state.phases;
  if (context.outputs[0].shape.Count() == 0) return;
  char* const memory = static_cast<char*>(context.scratch);
  Element* const zeros = reinterpret_cast<Element*>(memory + plan.thread_bytes * plan.threads);
  Element* const bias = zeros + plan.zeros;
  memset(zeros, 0, static_cast<size_t>(plan.zeros) * sizeof(Element));
  GemmRun run(context, state);
  run.zeros = zeros;
  run.job.activation = phases.activation;
  run.job.activate = ActivateRows;
  run.job.output = context.outputs[0].As<Element>();
  run.job.packed = state.packed;
  if (context.input_count > 2) {
    const int64_t outputs = phases.groups * phases.outputs / state.columns;
    run.job.bias = context.inputs[2].As<Element>();
    for (int64_t i = 0; state.columns > 1 && i < phases.outputs; ++i) bias[i] = run.job.bias[i % outputs];
    if (state.columns > 1) run.job.bias = bias;
  }
  if (state.packed == nullptr) {
    Element* packed = bias + phases.outputs;
    PackPhases(state, context.inputs[1].As<Element>(), packed);
    run.job.packed = packed;
  }
  context.For(run.count(), 1, [&](int64_t begin, int64_t end, int thread) {
    RunItems(run, begin, end, memory + thread * plan.thread_bytes);
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::GemmState),
    .plan_size = sizeof(lathe::GemmPlan),
    .prepare = lathe::PrepareGemm,
    .plan = lathe::PlanGemm,
    .run = lathe::RunGemm,
};
