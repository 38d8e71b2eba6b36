// Kernels that serve several element types from one file, for types that are too rare for a file of their own. The
// function for a node's type is chosen when the node is prepared.
//
// An operation is a struct with `Code Read(PrepareContext&)` and a template `operator()` of the types that elements are
// computed in: 16-bit floats come as float, bool as uint8_t. The result is converted to the output's type (convert.h).
#ifndef LATHE_KERNEL_LOOPS_TYPED_H_
#define LATHE_KERNEL_LOOPS_TYPED_H_

#include "native/kernel/loops/broadcast.h"
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

#define LATHE_DTYPE_OF(type, dtype)              \
  template <>                                    \
  struct DTypeOf<type> {                         \
    static constexpr DType value = DType::dtype; \
  };
LATHE_DTYPE_OF(Half, kF16)
LATHE_DTYPE_OF(Bf16, kBF16)
LATHE_DTYPE_OF(double, kF64)
LATHE_DTYPE_OF(int8_t, kS8)
LATHE_DTYPE_OF(uint8_t, kU8)
LATHE_DTYPE_OF(int16_t, kS16)
LATHE_DTYPE_OF(uint16_t, kU16)
LATHE_DTYPE_OF(uint32_t, kU32)
LATHE_DTYPE_OF(uint64_t, kU64)
LATHE_DTYPE_OF(Bool, kBool)
#undef LATHE_DTYPE_OF

template <typename... Ts>
struct Types {};

// What is left where a kernel for f32 exists, and where kernels for s32 and s64 do too.
using OtherFloats = Types<Half, Bf16, double>;
using AllIntegers = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using OtherNumbers =
    Types<Half, Bf16, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
using AllFloats = Types<float, Half, Bf16, double>;
using RareNumbers = Types<Half, Bf16, double, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t>;
using RareElements = Types<Half, Bf16, double, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t, Bool>;

// As the output's type: that of the input.
struct SameAsInput {};

template <typename T, typename Output>
struct OutputType {
  using Type = Output;
};
template <typename T>
struct OutputType<T, SameAsInput> {
  using Type = T;
};

template <typename Output>
constexpr bool kIsSameAsInput = false;
template <>
constexpr bool kIsSameAsInput<SameAsInput> = true;

// `Make<T>::Apply` for the C++ type T of an element type; null where the list does not hold it.
template <typename Function, template <typename> class Make, typename... Ts>
inline Function FindFor(DType dtype, Types<Ts...>) {
  Function found = nullptr;
  ((found = DTypeOf<Ts>::value == dtype ? Make<Ts>::Apply : found), ...);
  return found;
}

// Checks what the kernels of this file share: the number of inputs, which have one type, and the type of the output.
template <typename Output>
inline Code CheckTyped(const PrepareContext& context, int inputs, bool known) {
  LATHE_TRY(CheckArity(context, inputs, inputs, 1));
  if (!known) return context.Fail(Code::kUnsupported, "this kernel has other input types");
  const DType dtype = context.input(0).dtype;
  for (int i = 1; i < inputs; ++i) {
    if (context.input(i).dtype != dtype) return context.Fail(Code::kBadModel, "its inputs differ in element type");
  }
  DType made = dtype;
  if constexpr (!kIsSameAsInput<Output>) made = DTypeOf<Output>::value;
  if (context.output(0).dtype == made) return Code::kOk;
  return context.Fail(Code::kBadModel, "its output has the wrong element type");
}

template <typename Operation, typename Output>
struct TypedUnary {
  using Function = void (*)(const Operation& operation, const void* from, void* to, int64_t begin, int64_t end);

  struct State {
    Operation operation;
    Function apply;
  };

  template <typename T>
  struct Of {
    static void Apply(const Operation& operation, const void* from, void* to, int64_t begin, int64_t end) {
      using To = typename OutputType<T, Output>::Type;
      const T* source = static_cast<const T*>(from);
      To* target = static_cast<To*>(to);
      for (int64_t i = begin; i < end; ++i) target[i] = Convert<To>(operation(Widen(source[i])));
    }
  };

  template <typename List>
  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    state.apply = FindFor<Function, Of>(context.input(0).dtype, List());
    LATHE_TRY(CheckTyped<Output>(context, 1, state.apply != nullptr));
    return state.operation.Read(context);
  }

  static Code Plan(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const void* from = context.inputs[0].data;
    void* to = context.outputs[0].data;
    context.For(context.outputs[0].shape.Count(), kElementGrain,
                [&](int64_t begin, int64_t end, int) { state.apply(state.operation, from, to, begin, end); });
  }
};

template <typename Operation, typename List, typename Output = SameAsInput>
constexpr KernelFunctions TypedUnaryKernel() {
  using Kernel = TypedUnary<Operation, Output>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .prepare = Kernel::template Prepare<List>,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

// Operands of a stretch: where it starts, and by how many elements it moves.
struct Operand {
  const void* data;
  int64_t offset;
  int64_t stride;
};

template <typename Operation, typename Output>
struct TypedBinary {
  using Function = void (*)(const Operation& operation, const Operand& a, const Operand& b, void* to, int64_t at,
                            int64_t count);

  struct State {
    Operation operation;
    Function apply;
  };

  template <typename T>
  struct Of {
    static void Apply(const Operation& operation, const Operand& a, const Operand& b, void* to, int64_t at,
                      int64_t count) {
      using To = typename OutputType<T, Output>::Type;
      const T* left = static_cast<const T*>(a.data) + a.offset;
      const T* right = static_cast<const T*>(b.data) + b.offset;
      To* target = static_cast<To*>(to) + at;
      for (int64_t i = 0; i < count; ++i) {
        target[i] = Convert<To>(operation(Widen(left[i * a.stride]), Widen(right[i * b.stride])));
      }
    }
  };

  template <typename List>
  static Code Prepare(PrepareContext& context) {
    State& state = *static_cast<State*>(context.state());
    state.apply = FindFor<Function, Of>(context.input(0).dtype, List());
    LATHE_TRY(CheckTyped<Output>(context, 2, state.apply != nullptr));
    return state.operation.Read(context);
  }

  static void Run(const RunContext& context) {
    const State& state = context.template State<State>();
    const Broadcast& plan = context.template Plan<Broadcast>();
    const int last = plan.rank - 1;
    context.For(context.outputs[0].shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
      plan.ForStretches(begin, end, [&](int64_t at, const int64_t* offsets, int64_t count) {
        const Operand a = {context.inputs[0].data, offsets[0], plan.strides[0][last]};
        const Operand b = {context.inputs[1].data, offsets[1], plan.strides[1][last]};
        state.apply(state.operation, a, b, context.outputs[0].data, at, count);
      });
    });
  }
};

template <typename Operation, typename List, typename Output = SameAsInput>
constexpr KernelFunctions TypedBinaryKernel() {
  using Kernel = TypedBinary<Operation, Output>;
  return {
      .state_size = sizeof(typename Kernel::State),
      .plan_size = sizeof(Broadcast),
      .prepare = Kernel::template Prepare<List>,
      .plan = PlanBroadcast,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_TYPED_H_
