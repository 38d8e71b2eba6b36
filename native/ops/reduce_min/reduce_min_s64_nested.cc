// The smallest element; NaN wins.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

struct MinOfIntegers : MinFold<KernelType> {
  static KernelType Initial() { return INT64_MAX; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ReduceKernel<lathe::MinOfIntegers, lathe::KernelType, lathe::KernelType>();
