// The larger of both; NaN wins.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct MaximumOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Larger(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorBinaryKernel<lathe::MaximumOperation>();
