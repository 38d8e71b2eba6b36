// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct SeluOperation {
  float alpha;
  float gamma;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("gamma", &gamma);
  }
  float operator()(float x) const {
    return static_cast<float>(gamma) * (x > 0.0f ? x : static_cast<float>(alpha) * Expm1Of(x));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(selu_f32_simple__portable) = lathe::UnaryKernel<lathe::SeluOperation>("selu_f32_simple__portable", "selu");
