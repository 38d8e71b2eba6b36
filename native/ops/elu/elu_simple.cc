// x, or alpha * (e^x - 1) where x is negative.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_functions.h"

namespace lathe {
namespace {

struct EluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  Vec operator()(Vec x) const { return Elu(x, Fill(alpha)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::EluOperation, true>();
