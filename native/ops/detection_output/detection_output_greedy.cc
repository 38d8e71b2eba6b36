// The objects that a single-shot detector has found: boxes are decoded, taken class by class by falling score unless
// they overlap one that was taken before, and the best of all classes remain.
#include "native/kernel/check.h"
#include "native/kernel/loops/topk.h"
#include "native/kernel/math/math.h"

namespace lathe {
namespace {

enum Code4 { kCorner, kCenterSize, kCornerSize };

struct State {
  int code;
  bool variances_in_codes;
  int64_t background;
  float score_threshold;
  float iou_threshold;
  int64_t most_per_class;
  int64_t most_per_picture;
};

struct Box {
  float low[2];
  float high[2];
};

struct Row {
  float kind;
  float score;
  Box box;
};

struct Plan {
  int64_t priors;
  int64_t classes;
  int64_t per_class;  // boxes taken of one class at most
  int64_t room;       // rows of the output for one picture
  bool own_boxes;     // each class has its own
};

Code Prepare(PrepareContext& context) {
  constexpr const char* kCodes[] = {"corner", "center_size", "corner_size"};
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 3, 3, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(CheckRank(context, context.input(0), 2, "the codes"));
  LATHE_TRY(CheckRank(context, context.input(1), 2, "the scores"));
  LATHE_TRY(CheckRank(context, context.input(2), 3, "the priors"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadChoice(context, "code", kCodes, &state.code));
  LATHE_TRY(ReadBool(context, "variances_in_codes", &state.variances_in_codes));
  LATHE_TRY(ReadInt(context, "background", INT32_MIN, INT32_MAX, &state.background));
  LATHE_TRY(context.Float("score_threshold", &state.score_threshold));
  LATHE_TRY(context.Float("iou_threshold", &state.iou_threshold));
  LATHE_TRY(ReadInt(context, "most_per_class", -1, INT32_MAX, &state.most_per_class));
  return ReadInt(context, "most_per_picture", -1, INT32_MAX, &state.most_per_picture);
}

inline int64_t Limited(int64_t count, int64_t most) { return most >= 0 && most < count ? most : count; }

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  Plan& plan = *static_cast<Plan*>(context.plan());
  const Shape& codes = context.input(0).shape;
  const Shape& scores = context.input(1).shape;
  const Shape& priors = context.input(2).shape;
  const Shape& out = context.output(0).shape;
  plan.priors = priors[2] / 4;
  if (priors[0] != 1 || priors[1] != 2 || priors[2] % 4 != 0 || plan.priors < 1) {
    return context.Fail(Code::kBadModel, "its priors have a wrong shape");
  }
  plan.classes = scores[1] / plan.priors;
  if (codes[0] != scores[0] || plan.classes < 1 || scores[1] % plan.priors != 0) {
    return context.Fail(Code::kBadModel, "its inputs do not fit");
  }
  if (scores[1] > kMaxPackedElements) return context.Fail(Code::kUnsupported, "it has too many scores");
  plan.own_boxes = codes[1] != priors[2];
  if (plan.own_boxes && codes[1] != scores[1] * 4) return context.Fail(Code::kBadModel, "its inputs do not fit");
  plan.per_class = Limited(plan.priors, state.most_per_class);
  plan.room = Limited(plan.per_class * plan.classes, state.most_per_picture);
  if (out[0] != 1 || out[1] != 1 || out[3] != 7) return context.Fail(Code::kBadModel, "its output has a wrong shape");
  if (plan.room > 0 && scores[0] > out[2] / plan.room) {
    return context.Fail(Code::kBadModel, "its output has too little room");
  }
  const int64_t rows = plan.per_class * plan.classes;
  const int64_t of_prior = static_cast<int64_t>(2 * sizeof(int64_t) + sizeof(Box) + sizeof(float));
  const int64_t of_row = static_cast<int64_t>(sizeof(int64_t) + sizeof(Row) + sizeof(float) + sizeof(bool));
  return RequestScratch(context, plan.priors * of_prior + rows * of_row);
}

// Parts of the scratch memory, those of the largest alignment first.
struct Scratch {
  int64_t* places;  // of the candidates of a class
  int64_t* order;
  int64_t* best;  // of the rows of a picture
  Box* boxes;
  Row* rows;
  float* scores;      // of the candidates
  float* row_scores;  // of the rows
  bool* kept;
};

Scratch Divide(const Plan& plan, void* memory) {
  const int64_t rows = plan.per_class * plan.classes;
  Scratch parts;
  parts.places = static_cast<int64_t*>(memory);
  parts.order = parts.places + plan.priors;
  parts.best = parts.order + plan.priors;
  parts.boxes = reinterpret_cast<Box*>(parts.best + rows);
  parts.rows = reinterpret_cast<Row*>(parts.boxes + plan.priors);
  parts.scores = reinterpret_cast<float*>(parts.rows + rows);
  parts.row_scores = parts.scores + plan.priors;
  parts.kept = reinterpret_cast<bool*>(parts.row_scores + rows);
  return parts;
}

Box Decode(const State& state, const float* code, const float* prior, const float* variance) {
  Box box;
  for (int i = 0; i < 2; ++i) {
    const float side = prior[i + 2] - prior[i];
    const float first = state.variances_in_codes ? code[i] : code[i] * variance[i];
    const float second = state.variances_in_codes ? code[i + 2] : code[i + 2] * variance[i + 2];
    if (state.code == kCenterSize) {
      const float center = first * side + (prior[i] + prior[i + 2]) / 2.0f;
      const float half = Expf(second) * side / 2.0f;
      box.low[i] = center - half;
      box.high[i] = center + half;
    } else {
      const float factor = state.code == kCorner ? 1.0f : side;
      box.low[i] = prior[i] + factor * first;
      box.high[i] = prior[i + 2] + factor * second;
    }
  }
  return box;
}

inline float Area(const Box& box) {
  const float width = box.high[0] - box.low[0];
  const float height = box.high[1] - box.low[1];
  return width < 0.0f || height < 0.0f ? 0.0f : width * height;
}

float Overlap(const Box& a, const Box& b) {
  float sides[2];
  for (int i = 0; i < 2; ++i) {
    const float low = a.low[i] > b.low[i] ? a.low[i] : b.low[i];
    const float high = a.high[i] < b.high[i] ? a.high[i] : b.high[i];
    sides[i] = high - low;
  }
  if (!(sides[0] > 0.0f) || !(sides[1] > 0.0f)) return 0.0f;
  const float common = sides[0] * sides[1];
  return common / (Area(a) + Area(b) - common);
}

// Takes boxes of one class; tells how many rows there are now.
int64_t TakeClass(const State& state, const Plan& plan, const Scratch& parts, const float* scores, int64_t kind,
                  int64_t count) {
  int64_t candidates = 0;
  for (int64_t prior = 0; prior < plan.priors; ++prior) {
    const float score = scores[prior * plan.classes + kind];
    if (!(score > state.score_threshold)) continue;
    parts.scores[candidates] = score;
    parts.places[candidates++] = prior;
  }
  const int64_t tried = Limited(candidates, state.most_per_class);
  if (tried == 0) return count;
  FindTopk(TopkOrder<float>{parts.scores, 1, true}, candidates, tried, parts.order);
  const int64_t begin = count;
  for (int64_t i = 0; i < tried; ++i) {
    const int64_t candidate = parts.order[i];
    const Box& box = parts.boxes[parts.places[candidate]];
    bool fits = true;
    for (int64_t other = begin; other < count && fits; ++other) {
      fits = Overlap(box, parts.rows[other].box) <= state.iou_threshold;
    }
    if (!fits) continue;
    parts.rows[count++] = {static_cast<float>(kind), parts.scores[candidate], box};
  }
  return count;
}

// Writes the best rows of a picture; tells how many.
int64_t WriteBest(const State& state, const Scratch& parts, int64_t count, int64_t picture, float* to) {
  const int64_t most = Limited(count, state.most_per_picture);
  if (most < count) {
    for (int64_t i = 0; i < count; ++i) {
      parts.row_scores[i] = parts.rows[i].score;
      parts.kept[i] = false;
    }
    if (most > 0) FindTopk(TopkOrder<float>{parts.row_scores, 1, true}, count, most, parts.best);
    for (int64_t i = 0; i < most; ++i) parts.kept[parts.best[i]] = true;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (most < count && !parts.kept[i]) continue;
    const Row& row = parts.rows[i];
    const float numbers[] = {static_cast<float>(picture),
                             row.kind,
                             row.score,
                             row.box.low[0],
                             row.box.low[1],
                             row.box.high[0],
                             row.box.high[1]};
    memcpy(to, numbers, sizeof numbers);
    to += 7;
  }
  return most;
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const Plan& plan = context.Plan<Plan>();
  const Scratch parts = Divide(plan, context.scratch);
  const int64_t boxes_of_prior = plan.own_boxes ? plan.classes : 1;
  const float* priors = context.inputs[2].As<float>();
  float* to = context.outputs[0].As<float>();
  int64_t written = 0;
  for (int64_t picture = 0; picture < context.inputs[1].shape[0]; ++picture) {
    const float* codes = context.inputs[0].As<float>() + picture * plan.priors * boxes_of_prior * 4;
    const float* scores = context.inputs[1].As<float>() + picture * plan.priors * plan.classes;
    int64_t count = 0;
    for (int64_t kind = 0; kind < plan.classes; ++kind) {
      if (plan.own_boxes || kind == 0) {
        for (int64_t prior = 0; prior < plan.priors; ++prior) {
          parts.boxes[prior] = Decode(state, codes + (prior * boxes_of_prior + kind) * 4, priors + prior * 4,
                                      priors + (plan.priors + prior) * 4);
        }
      }
      if (kind != state.background) count = TakeClass(state, plan, parts, scores, kind, count);
    }
    written += WriteBest(state, parts, count, picture, to + written * 7);
  }
  context.outputs[0].shape.dims[2] = written;
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
