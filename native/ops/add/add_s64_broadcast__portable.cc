// a + b, then the activation.
#include "native/core/activation.h"
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct AddOperation : NoFinish<int64_t> {
  Code Read(const PrepareContext& context) { return RequireNoActivation(context); }
  int64_t operator()(int64_t a, int64_t b) const { return Wrapping<int64_t>::Add(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(add_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::AddOperation, int64_t>("add_s64_broadcast__portable", "add");
