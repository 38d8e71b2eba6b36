// Gated recurrent units along sequences. The gates are z, r and n.
#include "native/kernel/sequence/vector_cells.h"

namespace lathe {
namespace {

struct GruCell {
  static constexpr CellForm kForm = {3, 1, 4, 4, 1};  // besides the state there is the bias of n
  bool linear_before_reset;

  Code Read(PrepareContext& context) {
    bool other = false;
    LATHE_TRY(ReadFunction(context, "function_f", "sigmoid", "sigmoid", &other));
    LATHE_TRY(ReadFunction(context, "function_g", "tanh", "tanh", &other));
    return ReadBool(context, "linear_before_reset", &linear_before_reset);
  }

  void Step(const CellStep& step) const {
    if (linear_before_reset) {
      StepLinear(step);
    } else {
      StepReset(step);
    }
  }

  static void StepLinear(const CellStep& step) {
    const int64_t hidden = step.hidden;
    const float* bias = step.context->inputs[3].As<float>();
    ProductOfAll<GruCell>(step);
    for (int row = 0; row < step.count; ++row) {
      const CellPlace& place = step.places[row];
      const float* sums = step.sums[0] + row * step.row;
      ForVectors(hidden, [&](int64_t i, int count) {
        const Vec reset = Sigmoid(SumSome(place.x + hidden + i, sums + hidden + i, count));
        const Vec inner = SumSome(sums + 2 * hidden + i, bias + i, count);
        const Vec n = Tanh(MulAdd(reset, inner, LoadSome(place.x + 2 * hidden + i, count)));
        const Vec z = Sigmoid(SumSome(place.x + i, sums + i, count));
        Mix(place, i, count, z, n);
      });
    }
  }

  // The product for n is that of the state after the reset. Panels in the middle may belong to r and to n.
  static void StepReset(const CellStep& step) {
    const int64_t hidden = step.hidden;
    const float* bias = step.context->inputs[3].As<float>();
    RunStateProduct(step, 3 * hidden, 0, DivideUp(2 * hidden, kPanelWidth), step.sums[0]);
    const float* rows[kCellRows];
    for (int row = 0; row < step.count; ++row) {
      const CellPlace& place = step.places[row];
      float* sums = step.sums[0] + row * step.row;
      float* reset = step.spare + row * hidden;
      ForVectors(hidden, [&](int64_t i, int count) {
        const Vec r = Sigmoid(SumSome(place.x + hidden + i, sums + hidden + i, count));
        StoreSome(reset + i, Mul(r, LoadSome(place.states[0] + i, count)), count);
      });
      rows[row] = reset;
    }
    CellStep second = step;
    second.rows = rows;
    RunStateProduct(second, 3 * hidden, 2 * hidden / kPanelWidth, step.row / kPanelWidth, step.sums[1]);
    for (int row = 0; row < step.count; ++row) {
      const CellPlace& place = step.places[row];
      const float* sums = step.sums[0] + row * step.row;
      const float* inner = step.sums[1] + row * step.row + 2 * hidden;
      ForVectors(hidden, [&](int64_t i, int count) {
        const Vec outer = SumSome(place.x + 2 * hidden + i, bias + i, count);
        const Vec n = Tanh(Add(outer, LoadSome(inner + i, count)));
        const Vec z = Sigmoid(SumSome(place.x + i, sums + i, count));
        Mix(place, i, count, z, n);
      });
    }
  }

  // h = (1 - z) * n + z * h.
  static LATHE_INLINE void Mix(const CellPlace& place, int64_t i, int count, Vec z, Vec n) {
    float* h = place.states[0] + i;
    const Vec mixed = MulAdd(z, LoadSome(h, count), Mul(Sub(Fill(1.0f), z), n));
    StoreSome(h, mixed, count);
    StoreSome(place.y + i, mixed, count);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::CellFunctions<lathe::GruCell>();
