// Long short-term memory along sequences. The gates are i, o, f and c.
#include "native/kernel/sequence/vector_cells.h"

namespace lathe {
namespace {

struct LstmCell {
  static constexpr CellForm kForm = {4, 2, 4, 5, 3};  // besides the states there are the peepholes of i, o and f
  bool input_forget;

  Code Read(PrepareContext& context) {
    bool other = false;
    LATHE_TRY(ReadFunction(context, "function_f", "sigmoid", "sigmoid", &other));
    LATHE_TRY(ReadFunction(context, "function_g", "tanh", "tanh", &other));
    LATHE_TRY(ReadFunction(context, "function_h", "tanh", "tanh", &other));
    return ReadBool(context, "input_forget", &input_forget);
  }

  void Step(const CellStep& step) const {
    const RunContext& context = *step.context;
    const int64_t hidden = step.hidden;
    const float* peepholes = context.input_count > 4 ? context.inputs[4].As<float>() : nullptr;
    ProductOfAll<LstmCell>(step);
    for (int row = 0; row < step.count; ++row) {
      const CellPlace& place = step.places[row];
      const float* sums = step.sums[0] + row * step.row;
      ForVectors(hidden, [&](int64_t i, int count) {
        const auto gate = [&](int64_t number) {
          return SumSome(place.x + number * hidden + i, sums + number * hidden + i, count);
        };
        const auto seen = [&](int64_t number, Vec c, Vec sum) {
          return peepholes == nullptr ? sum : MulAdd(LoadSome(peepholes + number * hidden + i, count), c, sum);
        };
        float* const h = place.states[0] + i;
        float* const c = place.states[1] + i;
        const Vec before = LoadSome(c, count);
        const Vec input = Sigmoid(seen(0, before, gate(0)));
        const Vec forget = input_forget ? Sub(Fill(1.0f), input) : Sigmoid(seen(2, before, gate(2)));
        const Vec cell = MulAdd(forget, before, Mul(input, Tanh(gate(3))));
        const Vec result = Mul(Sigmoid(seen(1, cell, gate(1))), Tanh(cell));
        StoreSome(c, cell, count);
        StoreSome(h, result, count);
        StoreSome(place.y + i, result, count);
      });
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::CellFunctions<lathe::LstmCell>();
