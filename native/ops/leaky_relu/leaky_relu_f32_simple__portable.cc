// x, or alpha * x where x is negative.
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct LeakyReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  float operator()(float x) const { return LeakyRelu(x, alpha); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(leaky_relu_f32_simple__portable) =
    lathe::UnaryKernel<lathe::LeakyReluOperation>("leaky_relu_f32_simple__portable", "leaky_relu");
