// a + b, then the activation.
#include "native/core/activation.h"
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct AddOperation : NoFinish<int32_t> {
  Code Read(const PrepareContext& context) { return RequireNoActivation(context); }
  int32_t operator()(int32_t a, int32_t b) const { return Wrapping<int32_t>::Add(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(add_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::AddOperation, int32_t>("add_s32_broadcast__portable", "add");
