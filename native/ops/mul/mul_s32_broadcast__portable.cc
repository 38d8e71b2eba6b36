// a * b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const { return Wrapping<int32_t>::Mul(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mul_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::MulOperation, int32_t>("mul_s32_broadcast__portable", "mul");
