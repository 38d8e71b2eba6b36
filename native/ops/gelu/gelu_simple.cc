// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/kernel/loops/vector_elementwise.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_math.h"

namespace lathe {
namespace {

struct GeluOperation {
  bool by_tanh;

  Code Read(const PrepareContext& context) {
    int choice = 0;
    LATHE_TRY(ReadChoice(context, "approximate", {"none", "tanh"}, &choice));
    by_tanh = choice == 1;
    return Code::kOk;
  }
  Vec operator()(Vec x) const { return by_tanh ? GeluByTanh(x) : Gelu(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::VectorUnaryKernel<lathe::GeluOperation, true>();
