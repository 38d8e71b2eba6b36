// a / b.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

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

LATHE_KERNEL(div_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::DivOperation>("div_f32_broadcast__portable", "div");
