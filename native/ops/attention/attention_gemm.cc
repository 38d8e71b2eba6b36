// softmax(scale * q k^T + mask) v for each head. The scores of a block of queries stay in cache between the two
// products; those of all queries never exist at once. Few queries read keys and values where they are, more read them
// packed into panels.
#include "native/kernel/gemm/dot.h"
#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_map.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

constexpr int64_t kFewQueries = 4;           // as many do not pay for packing
constexpr int64_t kBlockScores = 48 * 1024;  // scores of a block, at most where that leaves kLeastQueries
constexpr int64_t kLeastQueries = 12;        // of a block
constexpr int64_t kQueryStep = 6;            // rows of a tile
constexpr int64_t kSumBlock = 64;            // vectors that are summed as floats; their sums are summed as doubles
enum Operand { kQueries, kKeys, kValues, kMask };

struct AttentionState {
  float scale;
  int64_t tokens_first[4];  // of q, k, v and the output
};

// Where the matrix of a head lies; its columns are neighbours.
struct Side {
  int64_t batch;
  int64_t head;
  int64_t token;
};

struct AttentionPlan {
  int64_t batches;
  int64_t heads;
  int64_t shared;  // heads of queries that share one of keys and values
  int64_t queries;
  int64_t keys;
  int64_t depth;
  int64_t width;  // of values
  Side q, k, v, y;
  Side mask;       // and from key to key 1
  int64_t rows;    // queries of a block
  int64_t blocks;  // of a head
  int64_t row;     // scores of a query, rounded up to whole panels
  int64_t inputs;  // packed inputs of a block, where the tiles want them
  PanelShape key_panels() const { return {1, row, 1, depth}; }
  PanelShape value_panels() const { return {1, width, 1, keys}; }
  bool packs() const { return queries > kFewQueries; }
  int64_t groups() const { return batches * (heads / shared); }
  int64_t thread_elements() const { return DivideUp(rows * row + inputs, 16) * 16; }
};

inline Side SideOf(const Shape& shape, bool tokens_first) {
  const int64_t step = shape[3];
  if (tokens_first) return {shape[1] * shape[2] * step, step, shape[2] * step};
  return {shape[1] * shape[2] * step, shape[2] * step, step};
}

// [batch, heads, tokens, columns], whatever comes first.
inline Shape Ordered(const Shape& shape, bool tokens_first) {
  return tokens_first ? Shape{4, {shape[0], shape[2], shape[1], shape[3]}} : shape;
}

__attribute__((cold)) Code PrepareAttention(PrepareContext& context) {
  AttentionState& state = *static_cast<AttentionState*>(context.state());
  LATHE_TRY(CheckArity(context, 3, 4, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(context.Float("scale", &state.scale));
  LATHE_TRY(ReadInts(context, "tokens_first", 4, 0, 1, state.tokens_first));
  if (!(state.scale > 0.0f)) return context.Fail(Code::kBadModel, "its scale is not positive");
  for (int i = 0; i < context.input_count(); ++i) LATHE_TRY(CheckRank(context, context.input(i), 4, "an input"));
  return Code::kOk;
}

// Steps of a mask, which is [batches or 1, heads or 1, queries or 1, keys].
inline Code PlanMask(PlanContext& context, AttentionPlan* plan) {
  const Shape& mask = context.input(kMask).shape;
  const int64_t whole[3] = {plan->batches, plan->heads, plan->queries};
  int64_t steps[3];
  int64_t step = mask[3];
  for (int axis = 2; axis >= 0; --axis) {
    if (mask[axis] != 1 && mask[axis] != whole[axis]) return context.Fail(Code::kBadModel, "its mask does not fit");
    steps[axis] = mask[axis] == 1 ? 0 : step;
    step *= mask[axis];
  }
  if (mask[3] != plan->keys) return context.Fail(Code::kBadModel, "its mask does not fit");
  plan->mask = {steps[0], steps[1], steps[2]};
  return Code::kOk;
}

// Cuts the queries of a head into blocks. Returns the elements of packed keys and values.
inline int64_t PlanBlocks(AttentionPlan* plan) {
  int64_t most = kBlockScores / plan->row;
  if (most < kLeastQueries) most = kLeastQueries;
  if (most > kChunkPixels) most = kChunkPixels;
  const int64_t even = DivideUp(plan->queries, DivideUp(plan->queries, most));
  plan->rows = DivideUp(even, kQueryStep) * kQueryStep;
  if (plan->rows > kChunkPixels) plan->rows = kChunkPixels;
  plan->blocks = DivideUp(plan->queries, plan->rows);
  const int64_t first = PackedInputElements(plan->key_panels(), plan->rows);
  const int64_t second = PackedInputElements(plan->value_panels(), plan->rows);
  plan->inputs = first > second ? first : second;
  return plan->groups() * (plan->key_panels().elements() + plan->value_panels().elements());
}

__attribute__((cold)) Code PlanAttention(PlanContext& context) {
  const AttentionState& state = *static_cast<const AttentionState*>(context.state());
  AttentionPlan& plan = *static_cast<AttentionPlan*>(context.plan());
  const int64_t* first = state.tokens_first;
  const Shape q = Ordered(context.input(kQueries).shape, first[kQueries] != 0);
  const Shape k = Ordered(context.input(kKeys).shape, first[kKeys] != 0);
  const Shape v = Ordered(context.input(kValues).shape, first[kValues] != 0);
  if (q[0] != k[0] || q[3] != k[3] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2] ||
      (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)) {
    return context.Fail(Code::kBadModel, "its inputs do not fit together");
  }
  const Shape y = Ordered({4, {q[0], q[1], q[2], v[3]}}, first[3] != 0);
  LATHE_TRY(CheckShape(context, 0, y));
  plan = {};
  plan.batches = q[0];
  plan.heads = q[1];
  plan.shared = k[1] == 0 ? 1 : q[1] / k[1];
  plan.queries = q[2];
  plan.keys = k[2];
  plan.depth = q[3];
  plan.width = v[3];
  plan.q = SideOf(context.input(kQueries).shape, first[kQueries] != 0);
  plan.k = SideOf(context.input(kKeys).shape, first[kKeys] != 0);
  plan.v = SideOf(context.input(kValues).shape, first[kValues] != 0);
  plan.y = SideOf(y, first[3] != 0);
  if (context.input_count() > kMask) LATHE_TRY(PlanMask(context, &plan));
  plan.row = DivideUp(plan.keys, kPanelWidth) * kPanelWidth;
  plan.rows = plan.queries;
  if (y.Count() == 0 || plan.keys == 0) return Code::kOk;
  if (k.Count() > kMaxPackedElements || v.Count() > kMaxPackedElements) {
    return context.Fail(Code::kUnsupported, "its keys are too many");
  }
  const int64_t packed = plan.packs() ? PlanBlocks(&plan) : 0;
  const int64_t elements = packed + context.threads() * plan.thread_elements();
  return RequestScratch(context, elements * static_cast<int64_t>(sizeof(float)));
}

// Rows of keys as the filters of a product, with zeros behind the last one.
inline void PackKeys(const PanelShape& shape, const float* from, int64_t step, int64_t keys, float* to) {
  for (int64_t first = 0; first < shape.outputs; first += kPanelWidth, to += shape.panel_elements()) {
    const int64_t there = keys - first < kPanelWidth ? keys - first : kPanelWidth;
    if (there < kPanelWidth) memset(to, 0, static_cast<size_t>(shape.panel_elements()) * sizeof(float));
    for (int64_t j = 0; j < there; ++j, from += step) {
      float* target = to + j;
      for (int64_t i = 0; i < shape.depth; ++i, target += kPanelWidth) *target = from[i];
    }
  }
}

// Rows of values, which are the depth of a product.
inline void PackValues(const PanelShape& shape, const float* from, int64_t step, float* to) {
  for (int64_t first = 0; first < shape.outputs; first += kPanelWidth) {
    const int64_t rest = shape.outputs - first < kPanelWidth ? shape.outputs - first : kPanelWidth;
    const float* row = from + first;
    if (rest == kPanelWidth) {
      for (int64_t i = 0; i < shape.depth; ++i, to += kPanelWidth, row += step) {
        for (int64_t j = 0; j < kPanelWidth; j += kLanes) Store(to + j, Load(row + j));
      }
      continue;
    }
    for (int64_t i = 0; i < shape.depth; ++i, to += kPanelWidth, row += step) {
      for (int64_t j = 0; j < kPanelWidth; ++j) to[j] = j < rest ? row[j] : 0.0f;
    }
  }
}

struct AttentionRun {
  const AttentionPlan& plan;
  float scale;
  const float* q;
  const float* k;
  const float* v;
  const float* mask;  // may be null
  float* y;
  float* keys;    // packed
  float* values;  // packed
  float* own;     // of the threads

  float* Own(int thread) const { return own + thread * plan.thread_elements(); }
};

// Makes powers of the scores of a query, with zeros up to whole vectors, and gives one divided by their sum.
inline float TakePowers(const AttentionRun& run, const float* mask, float* scores) {
  const int64_t keys = run.plan.keys, whole = keys / kLanes * kLanes;
  float scale = run.scale;
  if (mask != nullptr) {
    const Vec factor = Fill(scale);
    for (int64_t i = 0; i < whole; i += kLanes) Store(scores + i, MulAdd(Load(scores + i), factor, Load(mask + i)));
    for (int64_t i = whole; i < keys; ++i) scores[i] = scores[i] * scale + mask[i];
    scale = 1.0f;
  }
  float best = scores[0];
  if (whole > 0) {
    Vec most = Load(scores);
    for (int64_t i = kLanes; i < whole; i += kLanes) most = AtLeast(Load(scores + i), most);
    best = MaxLanes(most);
  }
  for (int64_t i = whole; i < keys; ++i) best = scores[i] > best ? scores[i] : best;
  const Vec factor = Fill(scale), top = Fill(-best * scale);
  const auto power = [&](int64_t i) { return ExpOfNegative(MulAdd(Load(scores + i), factor, top)); };
  double sum = 0.0;
  for (int64_t i = 0; i < whole;) {
    const int64_t end = i + kSumBlock * kLanes < whole ? i + kSumBlock * kLanes : whole;
    Vec part = Fill(0.0f);
    for (; i < end; i += kLanes) {
      const Vec one = power(i);
      Store(scores + i, one);
      part = Add(part, one);
    }
    sum += static_cast<double>(SumLanes(part));
  }
  if (whole < keys) {
    const Vec last = Part(power(whole), static_cast<int>(keys - whole));
    Store(scores + whole, last);
    sum += static_cast<double>(SumLanes(last));
  }
  return static_cast<float>(1.0 / sum);
}

inline const float* MaskOf(const AttentionRun& run, int64_t batch, int64_t head, int64_t query) {
  const Side& step = run.plan.mask;
  return run.mask == nullptr ? nullptr : run.mask + batch * step.batch + head * step.head + query * step.token;
}

// Some queries of one head, by panels.
inline void RunBlock(const AttentionRun& run, int64_t batch, int64_t head, int64_t first, int thread) {
  const AttentionPlan& plan = run.plan;
  const int64_t group = batch * (plan.heads / plan.shared) + head / plan.shared;
  const int64_t rest = plan.queries - first;
  const float* rows[kChunkPixels];
  float* const scores = run.Own(thread);
  PanelChunk chunk = {};
  chunk.count = static_cast<int>(rest < plan.rows ? rest : plan.rows);
  chunk.rows = rows;
  chunk.packed = scores + plan.rows * plan.row;
  const float* q = run.q + batch * plan.q.batch + head * plan.q.head + first * plan.q.token;
  for (int i = 0; i < chunk.count; ++i) rows[i] = q + i * plan.q.token;
  PanelJob job = {};
  job.shape = plan.key_panels();
  job.packed = run.keys + group * job.shape.elements();
  job.output = scores;
  PackInputs(job, chunk);
  RunPanelRange(job, chunk, 0, job.shape.panels());
  float factors[kChunkPixels];
  for (int i = 0; i < chunk.count; ++i) {
    rows[i] = scores + i * plan.row;
    factors[i] = TakePowers(run, MaskOf(run, batch, head, first + i), scores + i * plan.row);
  }
  job.shape = plan.value_panels();
  job.packed = run.values + group * job.shape.elements();
  job.output = run.y + batch * plan.y.batch + head * plan.y.head + first * plan.y.token;
  job.output_step = plan.y.token;
  PackInputs(job, chunk);
  RunPanelRange(job, chunk, 0, job.shape.panels());
  for (int i = 0; i < chunk.count; ++i) {
    float* to = job.output + i * plan.y.token;
    const Vec factor = Fill(factors[i]);
    MapVectors(to, to, plan.width, [factor](Vec x) { return Mul(x, factor); });
  }
}

// All queries of one head, where they are few.
inline void RunFew(const AttentionRun& run, int64_t batch, int64_t head, int thread) {
  const AttentionPlan& plan = run.plan;
  const int64_t group = head / plan.shared;
  const float* keys = run.k + batch * plan.k.batch + group * plan.k.head;
  const float* values = run.v + batch * plan.v.batch + group * plan.v.head;
  float* const scores = run.Own(thread);
  for (int64_t query = 0; query < plan.queries; ++query) {
    const float* q = run.q + batch * plan.q.batch + head * plan.q.head + query * plan.q.token;
    float* y = run.y + batch * plan.y.batch + head * plan.y.head + query * plan.y.token;
    for (int64_t key = 0; key < plan.keys; ++key) scores[key] = Dot(q, keys + key * plan.k.token, plan.depth);
    const Vec factor = Fill(TakePowers(run, MaskOf(run, batch, head, query), scores));
    for (int64_t i = 0; i < plan.width; i += kLanes) {
      const int count = static_cast<int>(plan.width - i < kLanes ? plan.width - i : kLanes);
      const bool whole = count == kLanes;
      Vec sums[2] = {Fill(0.0f), Fill(0.0f)};
      const float* value = values + i;
      for (int64_t key = 0; key < plan.keys; ++key, value += plan.v.token) {
        Vec& sum = sums[key % 2];
        sum = MulAdd(Fill(scores[key]), whole ? Load(value) : LoadPart(value, count), sum);
      }
      const Vec result = Mul(Add(sums[0], sums[1]), factor);
      whole ? Store(y + i, result) : StorePart(y + i, result, count);
    }
  }
}

void RunAttention(const RunContext& context) {
  const AttentionPlan& plan = context.Plan<AttentionPlan>();
  AttentionRun run = {plan,
                      context.State<AttentionState>().scale,
                      context.inputs[kQueries].As<float>(),
                      context.inputs[kKeys].As<float>(),
                      context.inputs[kValues].As<float>(),
                      context.input_count > kMask ? context.inputs[kMask].As<float>() : nullptr,
                      context.outputs[0].As<float>(),
                      static_cast<float*>(context.scratch),
                      nullptr,
                      nullptr};
  const int64_t heads = plan.batches * plan.heads;
  if (plan.keys == 0) {
    memset(run.y, 0, static_cast<size_t>(heads * plan.queries * plan.width) * sizeof(float));
    return;
  }
  if (heads * plan.queries * plan.width == 0) return;
  if (!plan.packs()) {
    run.own = run.keys;
    context.For(heads, 1, [&](int64_t begin, int64_t end, int thread) {
      for (int64_t item = begin; item < end; ++item) RunFew(run, item / plan.heads, item % plan.heads, thread);
    });
    return;
  }
  const PanelShape keys = plan.key_panels(), values = plan.value_panels();
  run.values = run.keys + plan.groups() * keys.elements();
  run.own = run.values + plan.groups() * values.elements();
  const int64_t groups = plan.heads / plan.shared;
  context.For(plan.groups(), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t batch = item / groups, group = item % groups;
      const float* k = run.k + batch * plan.k.batch + group * plan.k.head;
      const float* v = run.v + batch * plan.v.batch + group * plan.v.head;
      PackKeys(keys, k, plan.k.token, plan.keys, run.keys + item * keys.elements());
      PackValues(values, v, plan.v.token, run.values + item * values.elements());
    }
  });
  context.For(heads * plan.blocks, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t head = item / plan.blocks;
      RunBlock(run, head / plan.heads, head % plan.heads, item % plan.blocks * plan.rows, thread);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::AttentionState),
    .plan_size = sizeof(lathe::AttentionPlan),
    .prepare = lathe::PrepareAttention,
    .plan = lathe::PlanAttention,
    .run = lathe::RunAttention,
};
