// What isa/depthwise__<set>.cc is made of. The header of its instruction set goes before this one.
#ifndef LATHE_CORE_DEPTHWISE_UNIT_H_
#define LATHE_CORE_DEPTHWISE_UNIT_H_

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/core/depthwise_strips.h"
#else
#include "native/core/depthwise_rows.h"
#endif

namespace lathe {
inline namespace LATHE_VECTORS {

void RunDw3x3(const DwRows& job, bool halves, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last) {
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
  const auto run = halves ? RunDwStrips<2> : RunDwStrips<1>;
#else
  const auto run = halves ? RunDwRows<3, 2> : RunDwRows<3, 1>;
#endif
  run(job, begin, end, first, last);
}

}  // namespace LATHE_VECTORS
}  // namespace lathe

#endif  // LATHE_CORE_DEPTHWISE_UNIT_H_
