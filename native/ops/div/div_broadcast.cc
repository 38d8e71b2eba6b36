// a / b.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct DivOperation : NoFinish<KernelType> {
  KernelType operator()(KernelType a, KernelType b) const { return Wrapping<KernelType>::Div(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::DivOperation, lathe::KernelType>();
