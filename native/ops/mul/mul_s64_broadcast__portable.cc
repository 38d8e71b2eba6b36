// a * b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<int64_t> {
  int64_t operator()(int64_t a, int64_t b) const { return Wrapping<int64_t>::Mul(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mul_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::MulOperation, int64_t>("mul_s64_broadcast__portable", "mul");
