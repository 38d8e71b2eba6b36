// x where it is above alpha, else 0.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct ThresholdedReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  float operator()(float x) const { return x > static_cast<float>(alpha) ? x : 0.0f; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(thresholded_relu_f32_simple__portable) =
    lathe::UnaryKernel<lathe::ThresholdedReluOperation>("thresholded_relu_f32_simple__portable", "thresholded_relu");
