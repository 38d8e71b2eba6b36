// Bytes one after the other along an axis, each input brought from its way of storing to that of the output.
#include "native/kernel/check.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/look_up.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

constexpr int kTableBytes = 256;

struct ByteConcatState {
  int64_t axis;
  const ByteConversion* conversions;  // of every input
  const uint8_t* tables;              // as well, on the DSP: what each byte becomes
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
#if defined(__HVX__)
  uint8_t* tables = nullptr;
  LATHE_TRY(AllocateArray(context, context.input_count() * int64_t{kTableBytes}, &tables));
  state.tables = tables;
  for (int i = 0; i < context.input_count(); ++i) {
    for (int byte = 0; byte < kTableBytes; ++byte)
      *tables++ = static_cast<uint8_t>(ConvertByte(conversions[i], static_cast<int8_t>(byte)));
  }
#endif
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

// Rows of an input, `row` bytes apart in the output.
void JoinRows(const ByteConcatState& state, int input, const int8_t* from, int64_t count, int8_t* to, int64_t row,
              int64_t rows) {
  const ByteConversion& conversion = state.conversions[input];
  if (ChangesNothing(conversion)) {
    for (; rows > 0; --rows, from += count, to += row) CopyBytes(to, from, count);
    return;
  }
#if defined(__HVX__)
  const HvxTable table(state.tables + input * kTableBytes);
  for (; rows > 0; --rows, from += count, to += row)
    table.Run(reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to), count);
#else
  for (; rows > 0; --rows, from += count, to += row) ConvertBytes(conversion, from, to, count);
#endif
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
    int8_t* to = output + begin * row;
    for (int i = 0; i < context.input_count; ++i) {
      const Tensor& input = context.inputs[i];
      const int64_t count = input.shape.Count(axis, out.rank);
      JoinRows(state, i, input.As<int8_t>() + begin * count, count, to, row, end - begin);
      to += count;
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
