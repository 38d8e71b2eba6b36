// max(0, min(1, alpha * x + beta)).
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

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

LATHE_KERNEL(hard_sigmoid_f32_simple__portable) =
    lathe::VectorUnaryKernel<lathe::HardSigmoidOperation>("hard_sigmoid_f32_simple__portable", "hard_sigmoid");
