// a / b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct DivOperation : NoFinish<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const { return Wrapping<int32_t>::Div(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(div_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::DivOperation, int32_t>("div_s32_broadcast__portable", "div");
