// The smaller of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MinimumOperation : NoFinish<int64_t> {
  int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(minimum_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::MinimumOperation, int64_t>("minimum_s64_broadcast__portable", "minimum");
