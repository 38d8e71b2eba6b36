// Kernels of two tensors with NumPy's broadcasting.
//
// An operation is a struct with `T operator()(T, T) const`, `Code Read(PrepareContext&)` for its attributes and
// `void Finish(T*, int64_t) const`, which is given every finished stretch of the output; it becomes the node's state.
#ifndef LATHE_KERNEL_LOOPS_BROADCAST_H_
#define LATHE_KERNEL_LOOPS_BROADCAST_H_

#include "native/kernel/loops/elementwise.h"

namespace lathe {
namespace {

// `kCount` operands walked together. Neighbouring dimensions that all operands walk alike are merged, so that the last
// one, the inner loop, is as long as possible. Strides are in elements; 0 is broadcast, the last one is 0 or 1.
template <int kCount>
struct BroadcastOf {
  int32_t rank;
  int64_t dims[kMaxRank];
  int64_t strides[kCount][kMaxRank];

  // Whether the last dimension is walked with the one before it.
  bool Merges(int axis, int64_t size) const {
    for (int i = 0; i < kCount; ++i) {
      if (strides[i][axis - 1] != strides[i][axis] * size) return false;
    }
    return true;
  }

  // Calls `f(at, offsets, count)` for the stretches of the output's elements [begin, end) along which operand i starts
  // at `offsets[i]` and moves by `strides[i][rank - 1]`.
  template <typename F>
  void ForStretches(int64_t begin, int64_t end, const F& f) const {
    const int last = rank - 1;
    int64_t places[kMaxRank];   // of the row, one per axis but the last
    int64_t rows[kCount] = {};  // where the row starts
    int64_t column = begin % dims[last];
    int64_t index = begin / dims[last];
    for (int axis = last - 1; axis >= 0; --axis) {
      places[axis] = index % dims[axis];
      index /= dims[axis];
      for (int i = 0; i < kCount; ++i) rows[i] += places[axis] * strides[i][axis];
    }
    for (int64_t at = begin; at < end;) {
      int64_t offsets[kCount];
      for (int i = 0; i < kCount; ++i) offsets[i] = rows[i] + column * strides[i][last];
      const int64_t row = dims[last] - column;
      const int64_t count = row < end - at ? row : end - at;
      f(at, offsets, count);
      at += count;
      column = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        const bool wraps = ++places[axis] == dims[axis];
        for (int i = 0; i < kCount; ++i) rows[i] += (wraps ? 1 - dims[axis] : 1) * strides[i][axis];
        if (!wraps) break;
        places[axis] = 0;
      }
    }
  }
};

using Broadcast = BroadcastOf<2>;

// The shape that operands of these shapes give; false where they do not broadcast.
inline bool BroadcastShape(const Shape* const* shapes, int count, Shape* out) {
  out->rank = 0;
  for (int i = 0; i < count; ++i) out->rank = shapes[i]->rank > out->rank ? shapes[i]->rank : out->rank;
  for (int axis = 0; axis < out->rank; ++axis) {
    out->dims[axis] = 1;
    for (int i = 0; i < count; ++i) {
      const int own = axis - out->rank + shapes[i]->rank;
      const int64_t size = own < 0 ? 1 : shapes[i]->dims[own];
      if (size == 1) continue;
      if (out->dims[axis] != 1 && out->dims[axis] != size) return false;
      out->dims[axis] = size;
    }
  }
  return true;
}

// Fails where the shapes do not broadcast or do not give the shape of output 0.
template <int kCount>
inline Code PlanBroadcastOf(const PlanContext& context, const Shape* const (&shapes)[kCount],
                            BroadcastOf<kCount>* plan) {
  Shape out = {};
  if (!BroadcastShape(shapes, kCount, &out)) {
    return context.Fail(Code::kBadModel, "the shapes of its inputs do not broadcast");
  }
  LATHE_TRY(CheckShape(context, 0, out));
  plan->rank = 0;
  for (int axis = 0; axis < out.rank; ++axis) {
    if (out.dims[axis] == 1) continue;
    const int rank = plan->rank;
    for (int i = 0; i < kCount; ++i) {
      const Shape& shape = *shapes[i];
      const int own = axis - out.rank + shape.rank;
      const bool moves = own >= 0 && shape.dims[own] != 1;
      plan->strides[i][rank] = moves ? shape.Count(own + 1, shape.rank) : 0;
    }
    plan->dims[rank] = out.dims[axis];
    if (rank > 0 && plan->Merges(rank, out.dims[axis])) {
      plan->dims[rank - 1] *= out.dims[axis];
      for (int i = 0; i < kCount; ++i) plan->strides[i][rank - 1] = plan->strides[i][rank];
      continue;
    }
    ++plan->rank;
  }
  if (plan->rank == 0) {
    plan->rank = 1;
    plan->dims[0] = 1;
    for (int i = 0; i < kCount; ++i) plan->strides[i][0] = 0;
  }
  return Code::kOk;
}

inline Code PlanBroadcast(PlanContext& context) {
  const Shape* const shapes[] = {&context.input(0).shape, &context.input(1).shape};
  return PlanBroadcastOf<2>(context, shapes, static_cast<Broadcast*>(context.plan()));
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

  static void Run(const RunContext& context) {
    const Operation operation = context.State<Operation>();
    const Broadcast plan = context.Plan<Broadcast>();
    const T* a = context.inputs[0].As<T>();
    const T* b = context.inputs[1].As<T>();
    T* to = context.outputs[0].As<T>();
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

template <typename Operation, typename T = float>
constexpr KernelFunctions BinaryKernel() {
  using Kernel = Binary<T, Operation>;
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

#endif  // LATHE_KERNEL_LOOPS_BROADCAST_H_
