// The smallest element; NaN wins.
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

template <typename C>
struct SmallestOfAny : MinFold<C> {
  using Acc = C;
  static Acc Initial() { return HighestOf<C>(); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedReduceKernel<lathe::SmallestOfAny, lathe::RareNumbers>();
