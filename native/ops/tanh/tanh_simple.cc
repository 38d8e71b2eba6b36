// Hyperbolic tangent.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  Vec operator()(Vec x) const { return Tanh(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::TanhOperation, true>();
