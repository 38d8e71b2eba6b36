// 1 / (1 + e^-x).
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  Vec operator()(Vec x) const { return Sigmoid(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::SigmoidOperation, true>();
