// h = f(x + r h) along sequences.
#include "native/kernel/sequence/vector_cells.h"

namespace lathe {
namespace {

struct RnnCell {
  static constexpr CellForm kForm = {1, 1, 3, 3, 0};
  bool relu;

  Code Read(PrepareContext& context) { return ReadFunction(context, "function_f", "tanh", "relu", &relu); }

  void Step(const CellStep& step) const {
    ProductOfAll<RnnCell>(step);
    for (int row = 0; row < step.count; ++row) {
      const CellPlace& place = step.places[row];
      const float* sums = step.sums[0] + row * step.row;
      ForVectors(step.hidden, [&](int64_t i, int count) {
        const Vec sum = SumSome(place.x + i, sums + i, count);
        const Vec result = relu ? AtLeast(sum, Fill(0.0f)) : Tanh(sum);
        StoreSome(place.states[0] + i, result, count);
        StoreSome(place.y + i, result, count);
      });
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::CellFunctions<lathe::RnnCell>();
