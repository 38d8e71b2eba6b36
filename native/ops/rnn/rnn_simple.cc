// h = f(x + r h) along sequences.
#include "native/kernel/sequence/recurrent.h"

namespace lathe {
namespace {

struct RnnCell {
  static constexpr CellForm kForm = {1, 1, 3, 3, 0};

  Code Read(const PrepareContext&) { return Code::kOk; }

  void Step(const RunContext&, const Gate* functions, const SimpleStep& step) const {
    AddProduct(step.states[0], step.hidden, step.weights, step.hidden, step.hidden, step.gates);
    ApplyGate(functions[0], step.gates, step.hidden);
    memcpy(step.states[0], step.gates, static_cast<size_t>(step.hidden) * sizeof(float));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::RecurrentKernel<lathe::RnnCell>();
