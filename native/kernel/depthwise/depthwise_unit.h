// Compiled once for each instruction set: native/kernel/units.yaml.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_UNIT_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_UNIT_H_

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/kernel/depthwise/depthwise_strips.h"
#include "native/kernel/simd/simd.h"
#else
#include "native/kernel/depthwise/depthwise_rows.h"
#endif

namespace lathe {
inline namespace LATHE_ISA {

void RunDw3x3(const DwRows& job, bool halves, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last) {
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
  const auto run = halves ? RunDwStrips<2> : RunDwStrips<1>;
#else
  const auto run = halves ? RunDwRows<3, 2> : RunDwRows<3, 1>;
#endif
  run(job, begin, end, first, last);
}

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_UNIT_H_
