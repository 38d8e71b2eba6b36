// e^x.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  Vec operator()(Vec x) const { return Exp(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::ExpOperation, true>();
