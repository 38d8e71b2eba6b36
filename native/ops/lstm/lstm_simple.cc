// Long short-term memory along sequences. The gates are i, o, f and c.
#include "native/kernel/sequence/recurrent.h"

namespace lathe {
namespace {

struct LstmCell {
  static constexpr CellForm kForm = {4, 2, 4, 5, 3};  // besides the states there are the peepholes of i, o and f
  bool input_forget;

  Code Read(const PrepareContext& context) { return ReadBool(context, "input_forget", &input_forget); }

  void Step(const RunContext& context, const Gate* functions, const SimpleStep& step) const {
    const int64_t hidden = step.hidden;
    const float* peepholes = context.input_count > 4 ? context.inputs[4].As<float>() : nullptr;
    float* h = step.states[0];
    float* c = step.states[1];
    float* i = step.gates;
    float* o = i + hidden;
    float* f = o + hidden;
    float* cell = f + hidden;
    AddProduct(h, hidden, step.weights, 4 * hidden, 4 * hidden, i);
    for (int64_t j = 0; j < hidden && peepholes != nullptr; ++j) {
      i[j] += peepholes[j] * c[j];
      f[j] += peepholes[2 * hidden + j] * c[j];
    }
    ApplyGate(functions[0], i, hidden);
    if (input_forget) {
      for (int64_t j = 0; j < hidden; ++j) f[j] = 1.0f - i[j];
    } else {
      ApplyGate(functions[0], f, hidden);
    }
    ApplyGate(functions[1], cell, hidden);
    for (int64_t j = 0; j < hidden; ++j) c[j] = f[j] * c[j] + i[j] * cell[j];
    for (int64_t j = 0; j < hidden && peepholes != nullptr; ++j) o[j] += peepholes[hidden + j] * c[j];
    ApplyGate(functions[0], o, hidden);
    memcpy(step.spare, c, static_cast<size_t>(hidden) * sizeof(float));
    ApplyGate(functions[2], step.spare, hidden);
    for (int64_t j = 0; j < hidden; ++j) h[j] = o[j] * step.spare[j];
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::RecurrentKernel<lathe::LstmCell>();
