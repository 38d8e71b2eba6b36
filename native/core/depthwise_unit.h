// What isa/depthwise__<set>.cc is made of. The header of its instruction set goes before this one.
#ifndef LATHE_CORE_DEPTHWISE_UNIT_H_
#define LATHE_CORE_DEPTHWISE_UNIT_H_

#include "native/core/depthwise_rows.h"

namespace lathe {
inline namespace LATHE_VECTORS {

void RunDw3x3(const DwRows& job, bool halves, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last) {
  (halves ? RunDwRows<3, 2> : RunDwRows<3, 1>)(job, begin, end, first, last);
}

}  // namespace LATHE_VECTORS
}  // namespace lathe

#endif  // LATHE_CORE_DEPTHWISE_UNIT_H_
