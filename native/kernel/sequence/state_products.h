// Products of states with the recurrent weights of a layer, once per step.
#ifndef LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_H_
#define LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/sequence/cells.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
inline namespace LATHE_ISA {

// The rows of a step times panels [begin, end) of `outputs` weights, to `sums`. Once per instruction set:
// state_products_unit.h
void RunStateProduct(const CellStep& step, int64_t outputs, int64_t begin, int64_t end, float* sums);

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_H_
