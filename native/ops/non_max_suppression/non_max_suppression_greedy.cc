// Of boxes that overlap, the ones with the best scores: per batch and class, boxes are taken by falling score unless
// they overlap one that was taken before.
#include "native/kernel/check.h"
#include "native/kernel/loops/topk.h"

namespace lathe {
namespace {

struct State {
  bool center_point_box;
  int64_t max_per_class;
  float iou_threshold;
  float score_threshold;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  for (int i = 0; i < 2; ++i) {
    if (context.input(i).dtype != DType::kF32) return context.Fail(Code::kUnsupported, "this kernel has other types");
    LATHE_TRY(CheckRank(context, context.input(i), 3, "an input"));
  }
  if (context.output(0).dtype != DType::kS64) return context.Fail(Code::kBadModel, "its output is not s64");
  LATHE_TRY(CheckRank(context, context.output(0), 2, "its output"));
  LATHE_TRY(ReadBool(context, "center_point_box", &state.center_point_box));
  LATHE_TRY(ReadInt(context, "max_per_class", 0, INT32_MAX, &state.max_per_class));
  LATHE_TRY(context.Float("iou_threshold", &state.iou_threshold));
  return context.Float("score_threshold", &state.score_threshold);
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& boxes = context.input(0).shape;
  const Shape& scores = context.input(1).shape;
  const Shape& out = context.output(0).shape;
  if (boxes[2] != 4 || out[1] != 3) return context.Fail(Code::kBadModel, "its boxes or its output have a wrong length");
  if (boxes[0] != scores[0] || boxes[1] != scores[2]) return context.Fail(Code::kBadModel, "its inputs do not fit");
  const int64_t classes = scores.Count(0, 2);
  const int64_t most = boxes[1] < state.max_per_class ? boxes[1] : state.max_per_class;
  if (classes > 0 && most > out[0] / classes) return context.Fail(Code::kBadModel, "its output has too little room");
  return RequestScratch(context, boxes[1] * static_cast<int64_t>(sizeof(int64_t)));
}

// A box by its lower and its upper corner.
struct Box {
  float low[2];
  float high[2];
};

inline Box BoxAt(const float* from, bool center_point) {
  Box box;
  for (int i = 0; i < 2; ++i) {
    const float half = from[i + 2] / 2.0f;
    const float first = center_point ? from[i] - half : from[i];
    const float second = center_point ? from[i] + half : from[i + 2];
    const bool ordered = center_point || first < second;
    box.low[i] = ordered ? first : second;
    box.high[i] = ordered ? second : first;
  }
  return box;
}

inline float Area(const Box& box) { return (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]); }

bool Overlap(const Box& a, const Box& b, float threshold) {
  float common = 1.0f;
  for (int i = 0; i < 2; ++i) {
    const float low = a.low[i] > b.low[i] ? a.low[i] : b.low[i];
    const float high = a.high[i] < b.high[i] ? a.high[i] : b.high[i];
    common *= high > low ? high - low : 0.0f;
  }
  const float all = Area(a) + Area(b) - common;
  return Area(a) > 0 && Area(b) > 0 && all > 0 && common > threshold * all;
}

// Writes what is selected of one class as rows of batch, class and box; tells how many.
int64_t SelectClass(const State& state, const float* boxes, const float* scores, const int64_t* by_score, int64_t count,
                    const int64_t (&key)[2], int64_t* rows) {
  int64_t taken = 0;
  for (int64_t i = 0; i < count && taken < state.max_per_class; ++i) {
    const int64_t candidate = by_score[i];
    if (!(scores[candidate] > state.score_threshold)) continue;
    const Box box = BoxAt(boxes + candidate * 4, state.center_point_box);
    bool fits = true;
    for (int64_t other = 0; other < taken && fits; ++other) {
      fits = !Overlap(box, BoxAt(boxes + rows[other * 3 + 2] * 4, state.center_point_box), state.iou_threshold);
    }
    if (!fits) continue;
    rows[taken * 3] = key[0];
    rows[taken * 3 + 1] = key[1];
    rows[taken * 3 + 2] = candidate;
    ++taken;
  }
  return taken;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Shape& shape = context.inputs[1].shape;  // batches, classes, boxes
  const int64_t count = shape[2];
  int64_t* by_score = static_cast<int64_t*>(context.scratch);
  int64_t* rows = context.outputs[0].As<int64_t>();
  int64_t selected = 0;
  for (int64_t batch = 0; batch < shape[0] && count > 0; ++batch) {
    const float* boxes = context.inputs[0].As<float>() + batch * count * 4;
    for (int64_t kind = 0; kind < shape[1]; ++kind) {
      const float* scores = context.inputs[1].As<float>() + (batch * shape[1] + kind) * count;
      FindTopk(TopkOrder<float>{scores, 1, true}, count, count, by_score);
      selected += SelectClass(state, boxes, scores, by_score, count, {batch, kind}, rows + selected * 3);
    }
  }
  context.outputs[0].shape.dims[0] = selected;
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
