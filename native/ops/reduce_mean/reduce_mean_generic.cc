// The mean; that of integers is their sum, which wraps around, divided and cut towards zero.
#include "native/kernel/loops/reduce.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

template <typename C>
struct MeanOfAny {
  using Acc = typename SumOf<C>::Type;
  static constexpr bool kEmptyAllowed = false;
  static Acc Initial() { return Acc(0); }
  static Acc Add(Acc a, Acc b) {
    if constexpr (kIsFloat<Acc>) {
      return a + b;
    } else {
      return Wrapping<Acc>::Add(a, b);
    }
  }
  static Acc Result(Acc total, int64_t count) {
    if constexpr (kIsFloat<Acc>) {
      return total / static_cast<double>(count);
    } else if constexpr (kIsSigned<Acc>) {
      return static_cast<Acc>(static_cast<int64_t>(total) / count);
    } else {
      return static_cast<Acc>(static_cast<uint64_t>(total) / static_cast<uint64_t>(count));
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedReduceKernel<lathe::MeanOfAny, lathe::OtherNumbers>();
