// Bytes one after the other along an axis, each input brought from its way of storing to that of the output.
#include "native/kernel/check.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

struct ByteConcatState {
  int64_t axis;
  const ByteConversion* conversions;  // of every input
};

inline bool ChangesNothing(const ByteConversion& conversion) {
  return conversion.factor == 1.0f && conversion.zero == conversion.steps.zero;
}

inline Code PrepareByteConcat(PrepareContext& context) {
  ByteConcatState& state = *static_cast<ByteConcatState*>(context.state());
  LATHE_TRY(CheckArity(context, 1, INT32_MAX, 1));
  const int rank = context.input(0).shape.rank;
  LATHE_TRY(ReadInt(context, "axis", 0, rank - 1, &state.axis));
  LATHE_TRY(CheckRank(context, context.output(0), rank, "its output"));
  ByteConversion* conversions = nullptr;
  LATHE_TRY(AllocateArray(context, context.input_count(), &conversions));
  for (int i = 0; i < context.input_count(); ++i) {
    LATHE_TRY(CheckRank(context, context.input(i), rank, "an input"));
    LATHE_TRY(ReadConversion(context, context.input(i), context.output(0), conversions + i));
  }
  state.conversions = conversions;
  return Code::kOk;
}

inline Code PlanByteConcat(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const ByteConcatState*>(context.state())->axis);
  Shape expected = context.input(0).shape;
  const int64_t room = context.output(0).shape[axis];
  int64_t sum = expected[axis];
  for (int i = 1; i < context.input_count(); ++i) {
    Shape shape = context.input(i).shape;
    const int64_t size = shape[axis];
    if (sum > room || size > room - sum) return context.Fail(Code::kBadModel, "its output is too short");
    sum += size;
    shape.dims[axis] = expected.dims[axis];
    if (shape != expected) return context.Fail(Code::kBadModel, "its inputs differ beside the axis");
  }
  expected.dims[axis] = sum;
  return CheckShape(context, 0, expected);
}

void RunByteConcat(const RunContext& context) {
  constexpr int64_t kGrain = 4096;
  const ByteConcatState& state = context.State<ByteConcatState>();
  const int axis = static_cast<int>(state.axis);
  const Shape& out = context.outputs[0].shape;
  const int64_t row = out.Count(axis, out.rank);
  int8_t* output = context.outputs[0].As<int8_t>();
  if (row == 0) return;
  context.For(out.Count(0, axis), kGrain / row + 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t index = begin; index < end; ++index) {
      int8_t* to = output + index * row;
      for (int i = 0; i < context.input_count; ++i) {
        const Tensor& input = context.inputs[i];
        const int64_t count = input.shape.Count(axis, out.rank);
        const int8_t* from = input.As<int8_t>() + index * count;
        if (ChangesNothing(state.conversions[i])) {
          CopyBytes(to, from, count);
        } else {
          ConvertBytes(state.conversions[i], from, to, count);
        }
        to += count;
      }
    }
  });
}

constexpr KernelFunctions ByteConcatKernel() {
  return {
      .state_size = sizeof(ByteConcatState),
      .prepare = PrepareByteConcat,
      .plan = PlanByteConcat,
      .run = RunByteConcat,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteConcatKernel();
