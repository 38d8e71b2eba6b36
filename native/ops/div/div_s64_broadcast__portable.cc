// a / b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct DivOperation : NoFinish<int64_t> {
  int64_t operator()(int64_t a, int64_t b) const { return Wrapping<int64_t>::Div(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(div_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::DivOperation, int64_t>("div_s64_broadcast__portable", "div");
