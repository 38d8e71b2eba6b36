// a - b.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Sub(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorBinaryKernel<lathe::SubOperation>();
