// The largest element; NaN wins.
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

template <typename C>
struct LargestOfAny : MaxFold<C> {
  using Acc = C;
  static Acc Initial() { return LowestOf<C>(); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedReduceKernel<lathe::LargestOfAny, lathe::RareNumbers>();
