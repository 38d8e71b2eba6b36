// x, or alpha * (e^x - 1) where x is negative.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct EluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  Vec operator()(Vec x) const { return Elu(x, Fill(alpha)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(elu_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::EluOperation, true>("elu_f32_simple__portable",
                                                                                             "elu");
