// x, or alpha * (e^x - 1) where x is negative.
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct EluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  float operator()(float x) const { return Elu(x, alpha); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(elu_f32_simple__portable) = lathe::UnaryKernel<lathe::EluOperation>("elu_f32_simple__portable", "elu");
