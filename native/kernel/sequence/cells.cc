#include "native/kernel/sequence/cells.h"

#include "native/kernel/gemm/job_items.h"

namespace lathe {

namespace {

// Outputs of a panel of weights that came packed.
int64_t PanelOf(const Tensor& weights) { return weights.packing == Packing::kPanels8 ? 8 : 16; }

// Elements of a state; 0 where that is out of bounds.
int64_t StateSize(const Tensor& weights) {
  const int64_t size = weights.shape[weights.packing == Packing::kNone ? 1 : 4];
  return size < kMaxExtent ? size : 0;
}

// Weights that are plain or in panels, to panels of `panel` rows: [panels][hidden][panel], filled up with zeros.
__attribute__((cold)) void PackWeights(const Tensor& weights, int64_t rows, int64_t panel, float* to) {
  const float* from = weights.As<float>();
  const int64_t hidden = StateSize(weights);
  const bool plain = weights.packing == Packing::kNone;
  const int64_t before = PanelOf(weights);
  for (int64_t first = 0; first < rows; first += panel) {
    for (int64_t k = 0; k < hidden; ++k) {
      for (int64_t j = first; j < first + panel; ++j, ++to) {
        const int64_t at = plain ? j * hidden + k : (j / before * hidden + k) * before + j % before;
        *to = j < rows ? from[at] : 0.0f;
      }
    }
  }
}

int64_t RowOf(const CellForm& form, int64_t hidden, int64_t panel) {
  return DivideUp(form.gates * hidden, panel) * panel;
}

}  // namespace

Code CheckCells(PrepareContext& context, const CellForm& form) {
  LATHE_TRY(CheckArity(context, form.least, form.fixed + 1, 1 + form.states));
  const Tensor& weights = context.input(1);
  const bool plain = weights.packing == Packing::kNone;
  for (int i = 0; i < context.input_count(); ++i) {
    const DType wanted = i == form.fixed ? DType::kS32 : DType::kF32;
    if (context.input(i).dtype != wanted) return context.Fail(Code::kUnsupported, "this kernel has other types");
    const int rank = i == 0 ? 3 : i == 1 && !plain ? 6 : i < 2 + form.states ? 2 : 1;
    LATHE_TRY(CheckRank(context, context.input(i), rank, "an input"));
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.output(i).dtype != DType::kF32) return context.Fail(Code::kUnsupported, "this kernel has other types");
  }
  const Shape& shape = weights.shape;
  const int64_t hidden = StateSize(weights);
  const int64_t rows = form.gates * hidden;
  bool fits = hidden > 0 && rows <= kMaxExtent;
  if (plain) {
    fits = fits && shape[0] == rows;
  } else {
    const int64_t panel = PanelOf(weights);
    fits = fits && shape == Shape{6, {1, DivideUp(rows, panel), 1, 1, hidden, panel}};
  }
  return fits ? Code::kOk : context.Fail(Code::kBadModel, "its recurrent weights have the wrong shape");
}

Code CheckCellShapes(PlanContext& context, const CellForm& form) {
  const Shape& x = context.input(0).shape;
  const Tensor& weights = context.input(1);
  const int64_t hidden = StateSize(weights);
  const bool plain = weights.packing == Packing::kNone;
  if (hidden < 1 || x[2] != form.gates * hidden || (plain && weights.shape[0] != x[2])) {
    return context.Fail(Code::kBadModel, "its weights do not fit its input");
  }
  for (int i = 0; i < form.states; ++i) {
    const Shape& state = context.input(2 + i).shape;
    if (state[1] != hidden || (state[0] != 1 && state[0] != x[1])) {
      return context.Fail(Code::kBadModel, "a state has the wrong shape");
    }
    LATHE_TRY(CheckShape(context, 1 + i, {2, {x[1], hidden}}));
  }
  const int extra = 2 + form.states;
  if (form.extra != 0 && context.input_count() > extra && context.input(extra).shape[0] != form.extra * hidden) {
    return context.Fail(Code::kBadModel, "an operand per state has the wrong size");
  }
  if (context.input_count() > form.fixed && context.input(form.fixed).shape[0] != x[1]) {
    return context.Fail(Code::kBadModel, "there is not one length per sequence");
  }
  return CheckShape(context, 0, {3, {x[0], x[1], hidden}});
}

int64_t StepsOf(const RunContext& context, const CellForm& form, int64_t index) {
  const int64_t most = context.inputs[0].shape[0];
  if (context.input_count <= form.fixed) return most;
  const int64_t stated = context.inputs[form.fixed].As<int32_t>()[index];
  return stated < 0 ? 0 : stated < most ? stated : most;
}

float* StartState(const RunContext& context, int state, int64_t index) {
  const Tensor& start = context.inputs[2 + state];
  const int64_t hidden = start.shape[1];
  float* to = context.outputs[1 + state].As<float>() + index * hidden;
  const float* from = start.As<float>() + (start.shape[0] == 1 ? 0 : index * hidden);
  memcpy(to, from, static_cast<size_t>(hidden) * sizeof(float));
  return to;
}

Code ReadFunction(PrepareContext& context, const char* name, const char* word, const char* other, bool* second) {
  Span<const char> found;
  LATHE_TRY(context.String(name, &found));
  *second = !Equals(found, word);
  if (!*second || Equals(found, other)) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has other functions");
}

Code PrepareCells(PrepareContext& context, const CellForm& form, int64_t panel) {
  CellState& state = *static_cast<CellState*>(context.state());
  LATHE_TRY(CheckCells(context, form));
  float clip = 0.0f;
  LATHE_TRY(context.Float("clip", &clip));
  if (clip != 0.0f) return context.Fail(Code::kUnsupported, "this kernel does not limit gates");
  LATHE_TRY(ReadBool(context, "reverse", &state.reverse));
  const Tensor& weights = context.input(1);
  if (weights.shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its weights are too large");
  if (!weights.is_constant()) return Code::kOk;
  state.packed = weights.As<float>();
  if (weights.packing != Packing::kNone && PanelOf(weights) == panel) return Code::kOk;
  float* packed = nullptr;
  const int64_t hidden = StateSize(weights);
  LATHE_TRY(AllocateArray(context, RowOf(form, hidden, panel) * hidden, &packed));
  PackWeights(weights, form.gates * hidden, panel, packed);
  state.packed = packed;
  return Code::kOk;
}

Code PlanCells(PlanContext& context, const CellForm& form, int64_t panel) {
  LATHE_TRY(CheckCellShapes(context, form));
  const CellState& state = *static_cast<const CellState*>(context.state());
  CellPlan& plan = *static_cast<CellPlan*>(context.plan());
  const int64_t hidden = StateSize(context.input(1));
  const int64_t row = RowOf(form, hidden, panel);
  if (row * hidden > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its weights are too large");
  const int64_t batch = context.input(0).shape[1];
  plan.threads = context.threads();
  plan.most = batch == 0 ? 1 : DivideUp(batch, DivideUp(batch, kMostSequences));
  plan.thread_floats = DivideUp(plan.most * 2 * (row + hidden), 16) * 16;
  const int64_t floats = plan.threads * plan.thread_floats + (state.packed == nullptr ? row * hidden : 0);
  return RequestScratch(context, floats * static_cast<int64_t>(sizeof(float)));
}

namespace {

// All steps of sequences [begin, begin + count).
void RunSequences(const CellForm& form, CellStep step, int64_t begin, int64_t count,
                  void (*run)(const CellStep& step)) {
  const RunContext& context = *step.context;
  const bool reverse = static_cast<const CellState*>(step.state)->reverse;
  const Shape& x = context.inputs[0].shape;
  CellPlace places[kMostSequences], starts[kMostSequences];
  const float* rows[kCellRows];
  int64_t lengths[kMostSequences];
  for (int64_t i = 0; i < count; ++i) {
    for (int s = 0; s < form.states; ++s) starts[i].states[s] = StartState(context, s, begin + i);
    lengths[i] = StepsOf(context, form, begin + i);
  }
  step.places = places;
  step.rows = rows;
  for (int64_t t = 0; t < x[0]; ++t) {
    step.count = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = (reverse && t < lengths[i] ? lengths[i] - 1 - t : t) * x[1] + begin + i;
      float* y = context.outputs[0].As<float>() + at * step.hidden;
      if (t >= lengths[i]) {
        memset(y, 0, static_cast<size_t>(step.hidden) * sizeof(float));
        continue;
      }
      CellPlace& place = places[step.count];
      place = starts[i];
      place.x = context.inputs[0].As<float>() + at * x[2];
      place.y = y;
      rows[step.count++] = place.states[0];
    }
    if (step.count != 0) run(step);
  }
}

}  // namespace

void RunCells(const RunContext& context, const CellForm& form, int64_t panel, void (*run)(const CellStep& step)) {
  const CellPlan& plan = context.Plan<CellPlan>();
  float* scratch = static_cast<float*>(context.scratch);
  CellStep step = {};
  step.context = &context;
  step.state = context.state;
  step.hidden = context.outputs[0].shape[2];
  step.row = RowOf(form, step.hidden, panel);
  step.most = plan.most;
  step.packed = context.State<CellState>().packed;
  if (step.packed == nullptr) {
    float* packed = scratch + plan.threads * plan.thread_floats;
    PackWeights(context.inputs[1], form.gates * step.hidden, panel, packed);
    step.packed = packed;
  }
  // Which sequences go on together depends on the shape alone: a sum may be rounded in other ways in another tile.
  // Threads divide them, or the products of each step.
  const int64_t batch = context.inputs[0].shape[1];
  const int64_t blocks = DivideUp(batch, plan.most);
  step.parts = blocks == 1 ? plan.threads : 1;
  const auto take = [&](int64_t begin, int64_t end, int thread) {
    CellStep own = step;
    own.inputs = scratch + thread * plan.thread_floats;
    own.spare = own.inputs + plan.most * step.hidden;
    own.sums[0] = own.spare + plan.most * step.hidden;
    own.sums[1] = own.sums[0] + plan.most * step.row;
    for (int64_t first = begin * plan.most; first < batch && first < end * plan.most; first += plan.most) {
      RunSequences(form, own, first, batch - first < plan.most ? batch - first : plan.most, run);
    }
  };
  if (blocks == 1) {
    take(0, 1, 0);
  } else {
    context.For(blocks, 1, take);
  }
}

}  // namespace lathe
