// a * b.
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct MulOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return a * b;
    } else {
      return Wrapping<C>::Mul(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mul_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::MulOperation, lathe::RareNumbers>("mul_any_generic__portable", "mul");
