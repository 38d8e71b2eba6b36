// max(0, min(1, alpha * x + beta)).
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

struct HardSigmoidOperation {
  float alpha;
  float beta;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("beta", &beta);
  }
  Vec operator()(Vec x) const { return HardSigmoid(x, Fill(alpha), Fill(beta)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::HardSigmoidOperation>();
