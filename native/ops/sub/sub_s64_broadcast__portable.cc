// a - b.
#include "native/core/broadcast.h"
#include "native/core/integer.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<int64_t> {
  int64_t operator()(int64_t a, int64_t b) const { return Wrapping<int64_t>::Sub(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sub_s64_broadcast__portable) =
    lathe::BinaryKernel<lathe::SubOperation, int64_t>("sub_s64_broadcast__portable", "sub");
