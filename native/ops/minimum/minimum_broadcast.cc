// The smaller of both; NaN wins.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/broadcast.h"

namespace lathe {
namespace {

struct MinimumOperation : NoFinish<KernelType> {
  KernelType operator()(KernelType a, KernelType b) const { return a < b ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::MinimumOperation, lathe::KernelType>();
