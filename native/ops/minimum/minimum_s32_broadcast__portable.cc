// The smaller of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MinimumOperation : NoFinish<int32_t> {
  int32_t operator()(int32_t a, int32_t b) const { return a < b ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(minimum_s32_broadcast__portable) =
    lathe::BinaryKernel<lathe::MinimumOperation, int32_t>("minimum_s32_broadcast__portable", "minimum");
