// x, or alpha * (e^(x / alpha) - 1) where x is negative.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct CeluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  float operator()(float x) const {
    return x < 0.0f ? static_cast<float>(alpha) * Expm1Of(x / static_cast<float>(alpha)) : x;
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(celu_f32_simple__portable) = lathe::UnaryKernel<lathe::CeluOperation>("celu_f32_simple__portable", "celu");
