// The smallest element; NaN wins.
#include "native/core/reduce.h"

namespace lathe {
namespace {

template <typename C>
struct SmallestOfAny : MinFold<C> {
  using Acc = C;
  static Acc Initial() { return HighestOf<C>(); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_min_any_generic__portable) = lathe::TypedReduceKernel<lathe::SmallestOfAny, lathe::RareNumbers>(
    "reduce_min_any_generic__portable", "reduce_min");
