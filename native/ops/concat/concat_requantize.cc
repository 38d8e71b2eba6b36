// Bytes one after the other along an axis, each input brought from its way of storing to that of the output.
#include "native/kernel/check.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/look_up.h"
#include "native/kernel/simd/sixteen.h"

namespace lathe {
namespace {

// Where bytes are looked up faster than they are computed.
#if defined(__HVX__) || defined(__aarch64__)
#define LATHE_LOOKS_UP
#endif
constexpr int kTableBytes = 256;

struct ByteConcatState {
  int64_t axis;
  const ByteConversion* conversions;  // of every input
  const uint8_t* tables;              // as well, where they are used: what each byte becomes
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
#if defined(LATHE_LOOKS_UP)
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

#if defined(__aarch64__)
// Rows of `count` bytes, at least 16: the last vector overlaps the one before. The table stays in v16 to v31, which
// compilers do not manage.
__attribute__((noinline)) void LookUpRows(const uint8_t* table, const uint8_t* from, int64_t count, uint8_t* to,
                                          int64_t row, int64_t rows) {
  const int64_t rest = count % 16 != 0 ? count % 16 - 16 : 0;
  int64_t vectors, back;
  if (rows == 0) return;
  // clang-format off
  asm volatile(
      "ld1 {v16.16b, v17.16b, v18.16b, v19.16b}, [%[table]], #64\n"
      "ld1 {v20.16b, v21.16b, v22.16b, v23.16b}, [%[table]], #64\n"
      "ld1 {v24.16b, v25.16b, v26.16b, v27.16b}, [%[table]], #64\n"
      "ld1 {v28.16b, v29.16b, v30.16b, v31.16b}, [%[table]], #64\n"
      "movi v4.16b, #64\n"
      "1:\n"
      "mov %[vectors], %[all]\n"
      "mov %[back], %[rest]\n"
      "2:\n"
      "ldr q0, [%[from]], #16\n"
      "sub v1.16b, v0.16b, v4.16b\n"
      "sub v2.16b, v1.16b, v4.16b\n"
      "tbl v3.16b, {v16.16b, v17.16b, v18.16b, v19.16b}, v0.16b\n"
      "tbx v3.16b, {v20.16b, v21.16b, v22.16b, v23.16b}, v1.16b\n"
      "sub v0.16b, v2.16b, v4.16b\n"
      "tbx v3.16b, {v24.16b, v25.16b, v26.16b, v27.16b}, v2.16b\n"
      "tbx v3.16b, {v28.16b, v29.16b, v30.16b, v31.16b}, v0.16b\n"
      "str q3, [%[to]], #16\n"
      "subs %[vectors], %[vectors], #1\n"
      "b.ne 2b\n"
      "cbz %[back], 3f\n"
      "add %[from], %[from], %[back]\n"
      "add %[to], %[to], %[back]\n"
      "mov %[vectors], #1\n"
      "mov %[back], #0\n"
      "b 2b\n"
      "3:\n"
      "add %[to], %[to], %[gap]\n"
      "subs %[rows], %[rows], #1\n"
      "b.ne 1b\n"
      : [table] "+r"(table), [from] "+r"(from), [to] "+r"(to), [rows] "+r"(rows), [vectors] "=&r"(vectors),
        [back] "=&r"(back)
      : [all] "r"(count / 16), [rest] "r"(rest), [gap] "r"(row - count)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
  // clang-format on
}
#endif

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
#if defined(__aarch64__)
  if (count >= 16) {
    const uint8_t* const table = state.tables + input * kTableBytes;
    return LookUpRows(table, reinterpret_cast<const uint8_t*>(from), count, reinterpret_cast<uint8_t*>(to), row, rows);
  }
#endif
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
