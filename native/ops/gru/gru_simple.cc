// Gated recurrent units along sequences. The gates are z, r and n.
#include "native/kernel/sequence/recurrent.h"

namespace lathe {
namespace {

struct GruCell {
  static constexpr CellForm kForm = {3, 1, 4, 4, 1};  // besides the state there is the bias of n
  bool linear_before_reset;

  Code Read(const PrepareContext& context) { return ReadBool(context, "linear_before_reset", &linear_before_reset); }

  void Step(const RunContext& context, const Gate* functions, const SimpleStep& step) const {
    const int64_t hidden = step.hidden;
    const float* bias = context.inputs[3].As<float>();
    float* h = step.states[0];
    float* z = step.gates;
    float* r = z + hidden;
    float* n = r + hidden;
    AddProduct(h, hidden, step.weights, 3 * hidden, 2 * hidden, z);
    ApplyGate(functions[0], z, 2 * hidden);
    if (linear_before_reset) {
      memcpy(step.spare, bias, static_cast<size_t>(hidden) * sizeof(float));
      AddProduct(h, hidden, step.weights + 2 * hidden, 3 * hidden, hidden, step.spare);
      for (int64_t i = 0; i < hidden; ++i) n[i] += r[i] * step.spare[i];
    } else {
      for (int64_t i = 0; i < hidden; ++i) step.spare[i] = r[i] * h[i];
      for (int64_t i = 0; i < hidden; ++i) n[i] += bias[i];
      AddProduct(step.spare, hidden, step.weights + 2 * hidden, 3 * hidden, hidden, n);
    }
    ApplyGate(functions[1], n, hidden);
    for (int64_t i = 0; i < hidden; ++i) h[i] = (1.0f - z[i]) * n[i] + z[i] * h[i];
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::RecurrentKernel<lathe::GruCell>();
