// x * clip(x / 6 + 1/2, 0, 1).
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  Vec operator()(Vec x) const { return HardSwish(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::HardSwishOperation>();
