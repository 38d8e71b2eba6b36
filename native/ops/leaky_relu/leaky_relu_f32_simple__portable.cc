// x, or alpha * x where x is negative.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct LeakyReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  Vec operator()(Vec x) const { return LeakyRelu(x, Fill(alpha)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(leaky_relu_f32_simple__portable) =
    lathe::VectorUnaryKernel<lathe::LeakyReluOperation>("leaky_relu_f32_simple__portable", "leaky_relu");
