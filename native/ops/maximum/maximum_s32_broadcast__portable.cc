// The larger of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MaximumOperation : NoFinish<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const { return a > b ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(maximum_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::MaximumOperation, int32_t>("maximum_s32_broadcast__portable", "maximum");
