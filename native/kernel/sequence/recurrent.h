// Layers that walk along sequences in one direction: what rnn, gru and lstm have in common.
//
// A cell is a struct with `kForm`, a `Code Read(...)` and `void Step(...)`. The unit of work is one sequence of the
// batch. This is for all functions and limits of gates, one element after the other; cells.h has the way of the usual
// ones.
#ifndef LATHE_KERNEL_SEQUENCE_RECURRENT_H_
#define LATHE_KERNEL_SEQUENCE_RECURRENT_H_

#include "native/kernel/check.h"
#include "native/kernel/math/activation.h"
#include "native/kernel/sequence/cells.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

enum class GateKind : int32_t {
  kAffine,
  kRelu,
  kLeakyRelu,
  kThresholdedRelu,
  kTanh,
  kScaledTanh,
  kSigmoid,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

struct Gate {
  GateKind kind;
  float alpha;
  float beta;
  float clip;  // 0: no limit
};

inline float GateOf(const Gate& gate, float x) {
  const float a = gate.alpha;
  switch (gate.kind) {
    case GateKind::kAffine:
      return x * a + gate.beta;
    case GateKind::kRelu:
      return Relu(x);
    case GateKind::kLeakyRelu:
      return LeakyRelu(x, a);
    case GateKind::kThresholdedRelu:
      return x > a ? x : 0.0f;
    case GateKind::kTanh:
      return Tanhf(x);
    case GateKind::kScaledTanh:
      return a * Tanhf(gate.beta * x);
    case GateKind::kSigmoid:
      return Sigmoidf(x);
    case GateKind::kHardSigmoid:
      return HardSigmoid(x, a, gate.beta);
    case GateKind::kElu:
      return Elu(x, a);
    case GateKind::kSoftsign:
      return x / (1.0f + (x < 0.0f ? -x : x));
    case GateKind::kSoftplus:
      return Softplusf(x);
  }
  return x;
}

inline void ApplyGate(const Gate& gate, float* values, int64_t count) {
  if (gate.clip > 0.0f) {
    for (int64_t i = 0; i < count; ++i) values[i] = Clip(values[i], -gate.clip, gate.clip);
  }
  for (int64_t i = 0; i < count; ++i) values[i] = GateOf(gate, values[i]);
}

// to[j] += sum over k of x[k] * weights[k][j]: weights are packed by column, so that the inner loop runs over outputs.
inline void AddProduct(const float* x, int64_t depth, const float* weights, int64_t stride, int64_t width, float* to) {
  for (int64_t k = 0; k < depth; ++k) {
    const float factor = x[k];
    const float* row = weights + k * stride;
    for (int64_t j = 0; j < width; ++j) to[j] += factor * row[j];
  }
}

// Where a cell stands: its states, the gates of this step (with the input's share in them) and room for its own use.
struct SimpleStep {
  int64_t hidden;
  const float* weights;  // [hidden, kGates * hidden]
  float* gates;          // [kGates * hidden]
  float* spare;          // [hidden]
  float* states[2];      // [hidden] each
};

template <typename Cell>
struct Recurrent {
  struct State {
    Gate functions[3];
    bool reverse;
    float* packed;  // null: the weights are not constant
    Cell cell;
  };

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckCells(context, Cell::kForm));
    LATHE_TRY(ReadFunctions(context, &state));
    LATHE_TRY(ReadBool(context, "reverse", &state.reverse));
    LATHE_TRY(state.cell.Read(context));
    const Tensor& weights = context.input(1);
    if (!weights.is_constant()) return Code::kOk;
    LATHE_TRY(AllocateArray(context, weights.shape.Count(), &state.packed));
    Pack(weights, state.packed);
    return Code::kOk;
  }

  static Code ReadFunctions(PrepareContext& context, State* state) {
    static constexpr const char* kNames[] = {"function_f", "function_g", "function_h"};
    Span<const float> alphas, betas;
    float clip = 0.0f;
    LATHE_TRY(context.Floats("alphas", &alphas));
    LATHE_TRY(context.Floats("betas", &betas));
    LATHE_TRY(context.Float("clip", &clip));
    if (alphas.size() != 3 || betas.size() != 3)
      return context.Fail(Code::kBadModel, "it needs three alphas and betas");
    for (int i = 0; i < 3; ++i) {
      int kind = 0;
      LATHE_TRY(ReadChoice(context, kNames[i],
                           {"affine", "relu", "leaky_relu", "thresholded_relu", "tanh", "scaled_tanh", "sigmoid",
                            "hard_sigmoid", "elu", "softsign", "softplus"},
                           &kind));
      const float limit = i < 2 ? clip : 0.0f;  // what goes into h is not limited
      state->functions[i] = {static_cast<GateKind>(kind), alphas[i], betas[i], limit};
    }
    return Code::kOk;
  }

  static void Pack(const Tensor& weights, float* to) {
    const float* from = weights.As<float>();
    const int64_t rows = weights.shape[0];
    const int64_t columns = weights.shape[1];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    }
  }

  static Code Plan(PlanContext& context) {
    LATHE_TRY(CheckCellShapes(context, Cell::kForm));
    const Shape& weights = context.input(1).shape;
    const bool packed = static_cast<const State*>(context.state())->packed != nullptr;
    const int64_t per_thread = (Cell::kForm.gates + 1) * weights[1];
    const int64_t floats = per_thread * context.threads() + (packed ? 0 : weights.Count());
    return RequestScratch(context, floats * static_cast<int64_t>(sizeof(float)));
  }

  static void RunSequence(const RunContext& context, const State& state, int64_t index, SimpleStep step) {
    const Shape& x = context.inputs[0].shape;
    const int64_t width = Cell::kForm.gates * step.hidden;
    const size_t bytes = static_cast<size_t>(step.hidden) * sizeof(float);
    const int64_t length = StepsOf(context, Cell::kForm, index);
    for (int i = 0; i < Cell::kForm.states; ++i) step.states[i] = StartState(context, i, index);
    for (int64_t t = 0; t < x[0]; ++t) {
      const int64_t place = state.reverse && t < length ? length - 1 - t : t;
      float* to = context.outputs[0].As<float>() + (place * x[1] + index) * step.hidden;
      if (t >= length) {
        memset(to, 0, bytes);
        continue;
      }
      const float* from = context.inputs[0].As<float>() + (place * x[1] + index) * width;
      memcpy(step.gates, from, static_cast<size_t>(width) * sizeof(float));
      state.cell.Step(context, state.functions, step);
      memcpy(to, step.states[0], bytes);
    }
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Tensor& weights = context.inputs[1];
    const int64_t hidden = weights.shape[1];
    float* scratch = static_cast<float*>(context.scratch);
    const float* packed = state.packed;
    if (packed == nullptr) {
      Pack(weights, scratch);
      packed = scratch;
      scratch += weights.shape.Count();
    }
    context.For(context.inputs[0].shape[1], 1,
                [&context, &state, packed, scratch, hidden](int64_t begin, int64_t end, int thread) {
                  float* own = scratch + thread * (Cell::kForm.gates + 1) * hidden;
                  for (int64_t i = begin; i < end; ++i) {
                    RunSequence(context, state, i, {hidden, packed, own, own + Cell::kForm.gates * hidden, {}});
                  }
                });
  }
};

template <typename Cell>
constexpr KernelFunctions RecurrentKernel() {
  using Kernel = Recurrent<Cell>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SEQUENCE_RECURRENT_H_
