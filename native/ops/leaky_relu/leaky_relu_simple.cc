// x, or alpha * x where x is negative.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

struct LeakyReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  Vec operator()(Vec x) const { return LeakyRelu(x, Fill(alpha)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::LeakyReluOperation>();
