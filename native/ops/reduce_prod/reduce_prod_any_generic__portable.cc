// The product; integers wrap around.
#include "native/core/integer.h"
#include "native/core/reduce.h"

namespace lathe {
namespace {

template <typename C>
struct ProductOfAny {
  using Acc = typename SumOf<C>::Type;
  static constexpr bool kEmptyAllowed = true;
  static Acc Initial() { return Acc(1); }
  static Acc Add(Acc a, Acc b) {
    if constexpr (kIsFloat<Acc>) {
      return a * b;
    } else {
      return Wrapping<Acc>::Mul(a, b);
    }
  }
  static Acc Result(Acc total, int64_t) { return total; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_prod_any_generic__portable) = lathe::TypedReduceKernel<lathe::ProductOfAny, lathe::OtherNumbers>(
    "reduce_prod_any_generic__portable", "reduce_prod");
