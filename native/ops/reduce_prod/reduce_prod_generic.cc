// The product; integers wrap around.
#include "native/kernel/loops/reduce.h"
#include "native/kernel/math/integer.h"

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

LATHE_KERNEL = lathe::TypedReduceKernel<lathe::ProductOfAny, lathe::OtherNumbers>();
