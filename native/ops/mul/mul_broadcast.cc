// a * b.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<Element> {
  Vec operator()(Vec a, Vec b) const { return Mul(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorBinaryKernel<lathe::MulOperation>();
