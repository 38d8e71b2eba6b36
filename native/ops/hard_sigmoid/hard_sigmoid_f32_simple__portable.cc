// max(0, min(1, alpha * x + beta)).
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct HardSigmoidOperation {
  float alpha;
  float beta;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("beta", &beta);
  }
  float operator()(float x) const { return HardSigmoid(x, alpha, beta); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(hard_sigmoid_f32_simple__portable) =
    lathe::UnaryKernel<lathe::HardSigmoidOperation>("hard_sigmoid_f32_simple__portable", "hard_sigmoid");
