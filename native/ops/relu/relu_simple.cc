// max(x, 0); NaN stays NaN.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  Vec operator()(Vec x) const { return AtLeast(x, Fill(0.0f)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::ReluOperation>();
