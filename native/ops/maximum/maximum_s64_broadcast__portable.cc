// The larger of both; NaN wins.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct MaximumOperation : NoFinish<int64_t> {
  int64_t operator()(int64_t a, int64_t b) const { return a > b ? a : b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(maximum_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::MaximumOperation, int64_t>("maximum_s64_broadcast__portable", "maximum");
