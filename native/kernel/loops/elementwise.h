// Kernels that map one tensor to another of the same shape, element by element.
//
// An operation is a struct with `float operator()(float) const` (or of another element type T) and
// `Code Read(PrepareContext&)`, which reads its attributes; the struct itself becomes the state of the node.
#ifndef LATHE_KERNEL_LOOPS_ELEMENTWISE_H_
#define LATHE_KERNEL_LOOPS_ELEMENTWISE_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// The element type of a C++ type.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kS32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kS64;
};

// Base of operations without attributes.
struct NoAttributes {
  Code Read(const PrepareContext&) { return Code::kOk; }
};

constexpr int64_t kElementGrain = 4096;  // elements that are worth handing to another thread

template <typename T, typename Operation>
struct Unary {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    LATHE_TRY(CheckAllTypes(context, DTypeOf<T>::value));
    return static_cast<Operation*>(context.state())->Read(context);
  }

  static Code Plan(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

  static void Run(const RunContext& context) {
    const Operation operation = context.State<Operation>();
    const T* from = context.inputs[0].As<T>();
    T* to = context.outputs[0].As<T>();
    context.For(context.outputs[0].shape.Count(), kElementGrain, [=](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) to[i] = operation(from[i]);
    });
  }
};

template <typename Operation, typename T = float>
constexpr KernelFunctions UnaryKernel() {
  using Kernel = Unary<T, Operation>;
  return {
      .state_size = sizeof(Operation),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_ELEMENTWISE_H_
