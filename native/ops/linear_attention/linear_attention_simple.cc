// A matrix per head that every step decays, corrects and adds to. The unit of work is a head of keys of one image of
// the batch; its matrix is the second output itself, which is worked on in place.
#include "native/kernel/check.h"
#include "native/kernel/math/math.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

struct State {
  int64_t q_heads;
  int64_t kv_heads;
  float scale;
  bool gated;
  bool corrected;
};

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 4, 6, 2));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  LATHE_TRY(ReadInt(context, "q_heads", 1, kMaxExtent, &state.q_heads));
  LATHE_TRY(ReadInt(context, "kv_heads", 1, kMaxExtent, &state.kv_heads));
  LATHE_TRY(context.Float("scale", &state.scale));
  LATHE_TRY(ReadBool(context, "gated", &state.gated));
  LATHE_TRY(ReadBool(context, "corrected", &state.corrected));
  for (int i = 0; i < context.input_count(); ++i) {
    LATHE_TRY(CheckRank(context, context.input(i), i == 3 ? 4 : 3, "an input"));
  }
  const int gates = (state.gated ? 1 : 0) + (state.corrected ? 1 : 0);
  if (context.input_count() != 4 + gates) return context.Fail(Code::kBadModel, "has the wrong number of inputs");
  if (state.q_heads % state.kv_heads != 0) return context.Fail(Code::kBadModel, "heads cannot be shared out");
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const State& state = *static_cast<const State*>(context.state());
  const Shape& q = context.input(0).shape;
  const Shape& matrices = context.input(3).shape;
  const int64_t heads = state.kv_heads;
  const int64_t keys = matrices[2];
  const int64_t values = matrices[3];
  if (matrices[0] != q[0] || matrices[1] != heads || keys > kMaxExtent || values > kMaxExtent) {
    return context.Fail(Code::kBadModel, "its state has the wrong shape");
  }
  const auto fits = [&](int index, int64_t width) {
    return context.input(index).shape == Shape{3, {q[0], q[1], width}};
  };
  bool right = fits(0, state.q_heads * keys) && fits(1, heads * keys) && fits(2, heads * values);
  if (state.gated) right = right && (fits(4, heads) || fits(4, heads * keys));
  const int beta = context.input_count() - 1;
  if (state.corrected) right = right && (fits(beta, heads) || fits(beta, 1));
  if (!right) return context.Fail(Code::kBadModel, "its inputs do not fit together");
  LATHE_TRY(CheckShape(context, 0, {3, {q[0], q[1], state.q_heads * values}}));
  LATHE_TRY(CheckShape(context, 1, matrices));
  return RequestScratch(context, values * context.threads() * static_cast<int64_t>(sizeof(float)));
}

struct Head {
  int64_t keys;
  int64_t values;
  float* matrix;  // [keys, values]
  float* row;     // scratch: `values` floats
};

void Decay(const Head& head, const float* decay, bool per_key) {
  for (int64_t i = 0; i < head.keys; ++i) {
    const float factor = Expf(decay[per_key ? i : 0]);
    float* to = head.matrix + i * head.values;
    for (int64_t j = 0; j < head.values; ++j) to[j] *= factor;
  }
}

// row = sum over i of x[i] * matrix[i].
void Recall(const Head& head, const float* x, float* row) {
  for (int64_t j = 0; j < head.values; ++j) row[j] = 0.0f;
  for (int64_t i = 0; i < head.keys; ++i) {
    const float factor = x[i];
    const float* from = head.matrix + i * head.values;
    for (int64_t j = 0; j < head.values; ++j) row[j] += factor * from[j];
  }
}

void Write(const Head& head, const float* key, const float* value) {
  for (int64_t i = 0; i < head.keys; ++i) {
    const float factor = key[i];
    float* to = head.matrix + i * head.values;
    for (int64_t j = 0; j < head.values; ++j) to[j] += factor * value[j];
  }
}

void RunHead(const RunContext& context, const State& state, int64_t batch, int64_t index, float* scratch) {
  const Shape& matrices = context.inputs[3].shape;
  const int64_t length = context.inputs[0].shape[1];
  const int64_t heads = state.kv_heads;
  const int64_t shared = state.q_heads / heads;
  Head head = {matrices[2], matrices[3], nullptr, scratch};
  const int64_t offset = (batch * heads + index) * head.keys * head.values;
  head.matrix = context.outputs[1].As<float>() + offset;
  memcpy(head.matrix, context.inputs[3].As<float>() + offset,
         static_cast<size_t>(head.keys * head.values) * sizeof(float));
  const Tensor* decay = state.gated ? &context.inputs[4] : nullptr;
  const Tensor* beta = state.corrected ? &context.inputs[context.input_count - 1] : nullptr;
  for (int64_t t = batch * length; t < (batch + 1) * length; ++t) {
    const float* key = context.inputs[1].As<float>() + (t * heads + index) * head.keys;
    const float* value = context.inputs[2].As<float>() + (t * heads + index) * head.values;
    if (decay != nullptr) {
      const bool per_key = decay->shape[2] != heads;
      Decay(head, decay->As<float>() + (t * heads + index) * (per_key ? head.keys : 1), per_key);
    }
    if (beta != nullptr) {
      const float factor = beta->As<float>()[beta->shape[2] == heads ? t * heads + index : t];
      Recall(head, key, head.row);
      for (int64_t j = 0; j < head.values; ++j) head.row[j] = factor * (value[j] - head.row[j]);
      value = head.row;
    }
    Write(head, key, value);
    for (int64_t s = 0; s < shared; ++s) {
      const int64_t query = t * state.q_heads + index * shared + s;
      float* to = context.outputs[0].As<float>() + query * head.values;
      Recall(head, context.inputs[0].As<float>() + query * head.keys, to);
      for (int64_t j = 0; j < head.values; ++j) to[j] *= state.scale;
    }
  }
}

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const int64_t values = context.inputs[3].shape[3];
  float* scratch = static_cast<float*>(context.scratch);
  const int64_t heads = state.kv_heads;
  context.For(context.inputs[0].shape[0] * heads, 1,
              [&context, &state, heads, values, scratch](int64_t begin, int64_t end, int thread) {
                for (int64_t item = begin; item < end; ++item) {
                  RunHead(context, state, item / heads, item % heads, scratch + thread * values);
                }
              });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
