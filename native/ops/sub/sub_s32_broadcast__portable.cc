// a - b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const { return Wrapping<int32_t>::Sub(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sub_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::SubOperation, int32_t>("sub_s32_broadcast__portable", "sub");
