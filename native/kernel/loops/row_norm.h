// Normalisation of rows, which are all axes of the input from one on: layer_norm and rms_norm differ in whether the
// mean is taken away. Operands behind the input are a scale and a bias for each place in a row.
#ifndef LATHE_KERNEL_LOOPS_ROW_NORM_H_
#define LATHE_KERNEL_LOOPS_ROW_NORM_H_

#include "native/kernel/loops/elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

template <bool centred, int operands>
struct RowNorm {
  struct State {
    int64_t axis;
    float epsilon;
  };

  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    LATHE_TRY(CheckArity(context, 1, 1 + operands, 1));
    LATHE_TRY(CheckAllTypes(context, DType::kF32));
    LATHE_TRY(context.Float("epsilon", &state.epsilon));
    return ReadInt(context, "axis", 0, context.input(0).shape.rank - 1, &state.axis);
  }

  static Code Plan(PlanContext& context) {
    const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
    const Shape& shape = context.input(0).shape;
    for (int i = 1; i < context.input_count(); ++i) {
      const Shape& operand = context.input(i).shape;
      bool fits = operand.rank == shape.rank - axis;
      for (int j = axis; fits && j < shape.rank; ++j) fits = operand[j - axis] == shape[j];
      if (!fits) return context.Fail(Code::kBadModel, "an operand does not have the shape of a row");
    }
    return CheckShape(context, 0, shape);
  }

  // The sum of f over a row.
  template <typename F>
  static double Sum(const float* row, int64_t count, const F& f) {
    Vec sums[2] = {Fill(0.0f), Fill(0.0f)};
    int64_t i = 0;
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
      sums[0] = Add(sums[0], f(Load(row + i)));
      sums[1] = Add(sums[1], f(Load(row + i + kLanes)));
    }
    for (; i < count; i += kLanes) {
      const int rest = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
      sums[0] = Add(sums[0], Part(f(LoadPart(row + i, rest)), rest));
    }
    return static_cast<double>(SumLanes(Add(sums[0], sums[1])));
  }

  // What stands at a place of a row, for the last few places only the first `rest` of them.
  static Vec Operand(const float* values, int64_t at, int rest) {
    return rest == kLanes ? Load(values + at) : LoadPart(values + at, rest);
  }

  static void RunRow(const float* row, int64_t count, float epsilon, const float* scale, const float* bias, float* to) {
    const double size = static_cast<double>(count);
    float mean = 0.0f;
    float rest = 0.0f;  // the mean is mean + rest: a float alone is too coarse where the row lies far from zero
    if (centred) {
      mean = static_cast<float>(Sum(row, count, [](Vec x) { return x; }) / size);
      const Vec middle = Fill(mean);
      rest = static_cast<float>(Sum(row, count, [middle](Vec x) { return Sub(x, middle); }) / size);
    }
    const Vec middle = Fill(mean);
    const Vec shift = Fill(rest);
    const auto apart = [middle, shift](Vec x) { return centred ? Sub(Sub(x, middle), shift) : x; };
    const double squares = Sum(row, count, [apart](Vec x) { return Mul(apart(x), apart(x)); });
    const Vec factor = Fill(static_cast<float>(1.0 / __builtin_sqrt(squares / size + static_cast<double>(epsilon))));
    for (int64_t i = 0; i < count; i += kLanes) {
      const int width = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
      Vec x = Mul(apart(Operand(row, i, width)), factor);
      if (scale != nullptr) x = Mul(x, Operand(scale, i, width));
      if (bias != nullptr) x = Add(x, Operand(bias, i, width));
      width == kLanes ? Store(to + i, x) : StorePart(to + i, x, width);
    }
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Shape& shape = context.inputs[0].shape;
    const int axis = static_cast<int>(state.axis);
    const int64_t count = shape.Count(axis, shape.rank);
    const float* from = context.inputs[0].As<float>();
    const float* scale = context.input_count > 1 ? context.inputs[1].As<float>() : nullptr;
    const float* bias = context.input_count > 2 ? context.inputs[2].As<float>() : nullptr;
    float* to = context.outputs[0].As<float>();
    const float epsilon = state.epsilon;
    if (count == 0) return;
    const int64_t grain = kElementGrain / (count < kElementGrain ? count : kElementGrain);
    context.For(shape.Count(0, axis), grain, [=](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        RunRow(from + row * count, count, epsilon, scale, bias, to + row * count);
      }
    });
  }
};

template <bool centred, int operands>
constexpr KernelFunctions RowNormKernel() {
  using Kernel = RowNorm<centred, operands>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_ROW_NORM_H_
