// a + b, then the activation.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/broadcast.h"
#include "native/kernel/math/activation.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct AddOperation : NoFinish<KernelType> {
  Code Read(const PrepareContext& context) { return RequireNoActivation(context); }
  KernelType operator()(KernelType a, KernelType b) const { return Wrapping<KernelType>::Add(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BinaryKernel<lathe::AddOperation, lathe::KernelType>();
