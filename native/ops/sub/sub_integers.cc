// a - b.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<KernelType> {
  KernelType operator()(KernelType a, KernelType b) const { return Wrapping<KernelType>::Sub(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::SubOperation, lathe::KernelType>();
