// The largest element; NaN wins.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

struct MaxOfIntegers : MaxFold<KernelType> {
  static KernelType Initial() { return INT32_MIN; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ReduceKernel<lathe::MaxOfIntegers, lathe::KernelType, lathe::KernelType>();
