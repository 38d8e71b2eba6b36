// Kernels of two tensors with NumPy's broadcasting.
//
// An operation is a struct with `T operator()(T, T) const`, `Code Read(PrepareContext&)` for its attributes and
// `void Finish(T*, int64_t) const`, which is given every finished stretch of the output; it becomes the node's state.
#ifndef LATHE_CORE_BROADCAST_H_
#define LATHE_CORE_BROADCAST_H_

#include "native/core/elementwise.h"

namespace lathe {
namespace {

// Two operands walked together. Neighbouring dimensions that both operands walk alike are merged, so that the last
// one, the inner loop, is as long as possible. Strides are in elements; 0 is broadcast, the last one is 0 or 1.
struct Broadcast {
  int32_t rank;
  int64_t dims[kMaxRank];
  int64_t a_strides[kMaxRank];
  int64_t b_strides[kMaxRank];
};

// Fails where the shapes do not broadcast or do not give the shape of output 0.
inline Code PlanBroadcast(const PlanContext& context, const Shape& a, const Shape& b, Broadcast* plan) {
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  Shape out = {};
  out.rank = rank;
  int64_t a_strides[kMaxRank];
  int64_t b_strides[kMaxRank];
  int64_t a_stride = 1;
  int64_t b_stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int64_t a_size = axis >= rank - a.rank ? a.dims[axis - rank + a.rank] : 1;
    const int64_t b_size = axis >= rank - b.rank ? b.dims[axis - rank + b.rank] : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1) {
      return context.Fail(Code::kBadModel, "the shapes of its inputs do not broadcast");
    }
    out.dims[axis] = a_size == 1 ? b_size : a_size;
    a_strides[axis] = a_size == 1 ? 0 : a_stride;
    b_strides[axis] = b_size == 1 ? 0 : b_stride;
    a_stride *= a_size;
    b_stride *= b_size;
  }
  LATHE_TRY(CheckShape(context, 0, out));
  plan->rank = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (out.dims[axis] == 1) continue;
    const int last = plan->rank - 1;
    const int64_t size = out.dims[axis];
    if (last >= 0 && plan->a_strides[last] == a_strides[axis] * size &&
        plan->b_strides[last] == b_strides[axis] * size) {
      plan->dims[last] *= size;
      plan->a_strides[last] = a_strides[axis];
      plan->b_strides[last] = b_strides[axis];
      continue;
    }
    plan->dims[last + 1] = size;
    plan->a_strides[last + 1] = a_strides[axis];
    plan->b_strides[last + 1] = b_strides[axis];
    ++plan->rank;
  }
  if (plan->rank == 0) {
    plan->rank = 1;
    plan->dims[0] = 1;
    plan->a_strides[0] = plan->b_strides[0] = 0;
  }
  return Code::kOk;
}

template <typename T, typename Operation>
inline void ApplyStretch(const Operation& operation, const T* a, bool a_moves, const T* b, bool b_moves, T* to,
                         int64_t count) {
  if (a_moves && b_moves) {
    for (int64_t i = 0; i < count; ++i) to[i] = operation(a[i], b[i]);
  } else if (a_moves) {
    const T right = b[0];
    for (int64_t i = 0; i < count; ++i) to[i] = operation(a[i], right);
  } else if (b_moves) {
    const T left = a[0];
    for (int64_t i = 0; i < count; ++i) to[i] = operation(left, b[i]);
  } else {
    const T value = operation(a[0], b[0]);
    for (int64_t i = 0; i < count; ++i) to[i] = value;
  }
}

template <typename T>
struct NoFinish : NoAttributes {
  void Finish(T*, int64_t) const {}
};

template <typename T, typename Operation>
struct Binary {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(CheckArity(context, 2, 2, 1));
    LATHE_TRY(CheckAllTypes(context, DTypeOf<T>::value));
    return static_cast<Operation*>(context.state())->Read(context);
  }

  static Code Plan(PlanContext& context) {
    return PlanBroadcast(context, context.input(0).shape, context.input(1).shape,
                         static_cast<Broadcast*>(context.plan()));
  }

  static void Run(const RunContext& context) {
    const Operation operation = context.State<Operation>();
    const Broadcast plan = context.Plan<Broadcast>();
    const T* a = context.inputs[0].As<T>();
    const T* b = context.inputs[1].As<T>();
    T* to = context.outputs[0].As<T>();
    const int last = plan.rank - 1;
    context.For(context.outputs[0].shape.Count(), kElementGrain, [=](int64_t begin, int64_t end, int) {
      for (int64_t at = begin; at < end;) {
        const int64_t column = at % plan.dims[last];
        int64_t index = at / plan.dims[last];
        const T* from_a = a + column * plan.a_strides[last];
        const T* from_b = b + column * plan.b_strides[last];
        for (int axis = last - 1; axis >= 0; --axis) {
          from_a += index % plan.dims[axis] * plan.a_strides[axis];
          from_b += index % plan.dims[axis] * plan.b_strides[axis];
          index /= plan.dims[axis];
        }
        const int64_t row = plan.dims[last] - column;
        const int64_t count = row < end - at ? row : end - at;
        ApplyStretch(operation, from_a, plan.a_strides[last] != 0, from_b, plan.b_strides[last] != 0, to + at, count);
        operation.Finish(to + at, count);
        at += count;
      }
    });
  }
};

template <typename Operation, typename T = float>
constexpr KernelDef BinaryKernel(const char* name, const char* op) {
  using Kernel = Binary<T, Operation>;
  return {name, op, sizeof(Operation), sizeof(Broadcast), 0, Kernel::Prepare, Kernel::Plan, Kernel::Run};
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BROADCAST_H_
