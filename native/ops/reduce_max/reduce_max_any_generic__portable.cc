// The largest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

template <typename C>
struct LargestOfAny : MaxFold<C> {
  using Acc = C;
  static Acc Initial() { return LowestOf<C>(); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_max_any_generic__portable) =
    lathe::TypedReduceKernel<lathe::LargestOfAny, lathe::RareNumbers>("reduce_max_any_generic__portable", "reduce_max");
