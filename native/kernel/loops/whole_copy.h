// Tensors that are copied as they stand: what identity, the borders of devices and control flow have in common.
//
// They are functions of the core and not of each kernel: a library holds them once.
#ifndef LATHE_KERNEL_LOOPS_WHOLE_COPY_H_
#define LATHE_KERNEL_LOOPS_WHOLE_COPY_H_

#include "native/runtime/kernel.h"

namespace lathe {

constexpr int64_t kCopyGrain = 16384;  // bytes that are worth handing to another thread

// Copies a tensor. Sizes that only the data decides may differ from those that were compared in `plan`, if the model is
// wrong: no more is copied than both have. Nothing happens where both are the same memory.
void MoveTensor(const RunContext& context, const Tensor& from, const Tensor& to);

// Kernels of one input and one output with the same elements. `run` is of others too, whose shapes differ.
Code PrepareWholeCopy(PrepareContext& context);
Code PlanWholeCopy(PlanContext& context);
void RunWholeCopy(const RunContext& context);

}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_WHOLE_COPY_H_
