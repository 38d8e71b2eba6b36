// a + b, then the activation, which integers do not have.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/functions.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct AddOperation {
  Activation activation;

  Code Read(const PrepareContext& context) {
    switch (context.input(0).dtype) {
      case DType::kF16:
      case DType::kBF16:
      case DType::kF64:
        return ReadActivation(context, &activation);
      default:
        return RequireNoActivation(context);
    }
  }
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return Activated<C>(activation, a + b);
    } else {
      return Wrapping<C>::Add(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::AddOperation, lathe::KernelTypes<lathe::RareNumbers>>();
