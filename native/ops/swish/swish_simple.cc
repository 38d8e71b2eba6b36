// x * sigmoid(x).
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  Vec operator()(Vec x) const { return Swish(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::SwishOperation, true>();
