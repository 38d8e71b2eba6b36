// Kernels that go element by element, on vectors: what elementwise.h and broadcast.h do for one element at a time.
//
// An operation has `Vec operator()(Vec) const`, or of two, in the place of the one on elements.
#ifndef LATHE_KERNEL_LOOPS_VECTOR_ELEMENTWISE_H_
#define LATHE_KERNEL_LOOPS_VECTOR_ELEMENTWISE_H_

#include "native/kernel/loops/broadcast.h"
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_map.h"

namespace lathe {
namespace {

// `is_long`: the function is, and shall be there once.
template <typename Operation, bool is_long>
struct VectorUnary {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 1, 1, 1));
    LATHE_TRY(CheckAllTypes(context, kElementType));
    return static_cast<Operation*>(context.state())->Read(context);
  }

  static Code Plan(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

  static void Run(const RunContext& context) {
    const Operation operation = context.State<Operation>();
    const Element* from = context.inputs[0].As<Element>();
    Element* to = context.outputs[0].As<Element>();
    context.For(context.outputs[0].shape.Count(), kElementGrain,
                [=](int64_t begin, int64_t end, int) { MapVectors(from + begin, to + begin, end - begin, operation); });
  }
};

template <typename Operation, bool is_long = false>
constexpr KernelFunctions VectorUnaryKernel() {
  using Kernel = VectorUnary<Operation, is_long>;
  return {
      .state_size = sizeof(Operation),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

template <typename Operation>
struct VectorBinary {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 2, 2, 1));
    LATHE_TRY(CheckAllTypes(context, kElementType));
    return static_cast<Operation*>(context.state())->Read(context);
  }

  static void ApplyStretch(const Operation& operation, const Element* a, bool a_moves, const Element* b, bool b_moves,
                           Element* to, int64_t count) {
    if (a_moves && b_moves) {
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes) Store(to + i, operation(Load(a + i), Load(b + i)));
      const int rest = static_cast<int>(count - i);
      if (rest > 0) StorePart(to + i, operation(LoadPart(a + i, rest), LoadPart(b + i, rest)), rest);
    } else if (a_moves) {
      const Vec right = Fill(b[0]);
      MapVectors(a, to, count, [=](Vec left) { return operation(left, right); });
    } else {  // where neither moves there is one element
      const Vec left = Fill(a[0]);
      MapVectors(b, to, count, [=](Vec right) { return operation(left, right); });
    }
  }

  static void Run(const RunContext& context) {
    const Operation operation = context.State<Operation>();
    const Broadcast& plan = context.Plan<Broadcast>();
    const Element* a = context.inputs[0].As<Element>();
    const Element* b = context.inputs[1].As<Element>();
    Element* to = context.outputs[0].As<Element>();
    const bool a_moves = plan.strides[0][plan.rank - 1] != 0;
    const bool b_moves = plan.strides[1][plan.rank - 1] != 0;
    context.For(context.outputs[0].shape.Count(), kElementGrain, [=, &plan](int64_t begin, int64_t end, int) {
      plan.ForStretches(begin, end, [=](int64_t at, const int64_t* offsets, int64_t count) {
        ApplyStretch(operation, a + offsets[0], a_moves, b + offsets[1], b_moves, to + at, count);
        operation.Finish(to + at, count);
      });
    });
  }
};

template <typename Operation>
constexpr KernelFunctions VectorBinaryKernel() {
  using Kernel = VectorBinary<Operation>;
  return {
      .state_size = sizeof(Operation),
      .plan_size = sizeof(Broadcast),
      .prepare = Kernel::Prepare,
      .plan = PlanBroadcast,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_VECTOR_ELEMENTWISE_H_
