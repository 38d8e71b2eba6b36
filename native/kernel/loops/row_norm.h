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

  // Adds up over a row: f gives the `sums` vectors that an element adds.
  template <int sums, typename F>
  static void Sum(const float* row, int64_t count, const F& f, double (&results)[sums]) {
    constexpr int kApart = 4 / sums;  // sums of neighbours that do not wait for each other
    Vec parts[kApart][sums];
#pragma GCC unroll 4
    for (auto& part : parts) {
#pragma GCC unroll 2
      for (Vec& sum : part) sum = Fill(0.0f);
    }
    const auto add = [](const Vec(&added)[sums], int rest, Vec(&part)[sums]) {
      for (int j = 0; j < sums; ++j) part[j] = Add(part[j], rest == kLanes ? added[j] : Part(added[j], rest));
    };
    int64_t i = 0;
    for (; i + kApart * kLanes <= count; i += kApart * kLanes) {
#pragma GCC unroll 4
      for (int k = 0; k < kApart; ++k) add(f(Load(row + i + k * kLanes)).sums, kLanes, parts[k]);
    }
    for (; i < count; i += kLanes) {
      const int rest = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
      add(f(LoadPart(row + i, rest)).sums, rest, parts[0]);
    }
    for (int j = 0; j < sums; ++j) {
      for (int k = 1; k < kApart; ++k) parts[0][j] = Add(parts[0][j], parts[k][j]);
      results[j] = static_cast<double>(SumLanes(parts[0][j]));
    }
  }

  template <int count>
  struct Sums {
    Vec sums[count];
  };

  // What stands at a place of a row, for the last few places only the first `rest` of them.
  static Vec Operand(const float* values, int64_t at, int rest) {
    return rest == kLanes ? Load(values + at) : LoadPart(values + at, rest);
  }

  static void RunRow(const float* row, int64_t count, float epsilon, const float* scale, const float* bias, float* to) {
    const double size = static_cast<double>(count);
    float mean = 0.0f;
    float rest = 0.0f;  // the mean is mean + rest: a float alone is too coarse where the row lies far from zero
    double variance = 0.0;
    if (centred) {
      double sum[1], apart[2];
      Sum<1>(row, count, [](Vec x) { return Sums<1>{{x}}; }, sum);
      mean = static_cast<float>(sum[0] / size);
      const Vec middle = Fill(mean);
      const auto differ = [middle](Vec x) {
        const Vec difference = Sub(x, middle);
        return Sums<2>{{difference, Mul(difference, difference)}};
      };
      Sum<2>(row, count, differ, apart);
      rest = static_cast<float>(apart[0] / size);
      variance = apart[1] / size - apart[0] / size * (apart[0] / size);
      if (variance < 0.0) variance = 0.0;
    } else {
      double squares[1];
      Sum<1>(row, count, [](Vec x) { return Sums<1>{{Mul(x, x)}}; }, squares);
      variance = squares[0] / size;
    }
    const Vec middle = Fill(mean);
    const Vec shift = Fill(rest);
    const auto apart = [middle, shift](Vec x) { return centred ? Sub(Sub(x, middle), shift) : x; };
    const Vec factor = Fill(static_cast<float>(1.0 / __builtin_sqrt(variance + static_cast<double>(epsilon))));
    int64_t i = 0;
    if (scale != nullptr && bias != nullptr) {
      for (; i + kLanes <= count; i += kLanes) {
        Store(to + i, MulAdd(Mul(apart(Load(row + i)), factor), Load(scale + i), Load(bias + i)));
      }
    }
    for (; i < count; i += kLanes) {
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
