// a + b, then the activation, which integers do not have.
#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

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

LATHE_KERNEL(add_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::AddOperation, lathe::RareNumbers>("add_any_generic__portable", "add");
