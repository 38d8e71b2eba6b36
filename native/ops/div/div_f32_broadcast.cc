// a / b.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

struct DivOperation : NoFinish<float> {
#if defined(__arm__)  // which divides vectors roughly
  Vec operator()(Vec a, Vec b) const {
    float quotients[kLanes];
    float divisors[kLanes];
    Store(quotients, a);
    Store(divisors, b);
    for (int i = 0; i < kLanes; ++i) quotients[i] /= divisors[i];
    return Load(quotients);
  }
#else
  Vec operator()(Vec a, Vec b) const { return Div(a, b); }
#endif
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorBinaryKernel<lathe::DivOperation>();
