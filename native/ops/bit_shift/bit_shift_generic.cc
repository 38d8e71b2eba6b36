// The bits of a moved by b places. Past either end nothing is left but the sign of signed numbers, and so it is where b
// is negative.
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct BitShiftOperation {
  bool left;

  Code Read(const PrepareContext& context) {
    int choice = 0;
    LATHE_TRY(ReadChoice(context, "direction", {"left", "right"}, &choice));
    left = choice == 0;
    return Code::kOk;
  }
  template <typename C>
  C operator()(C a, C b) const {
    using U = typename UnsignedOf<C>::Type;
    constexpr C kBits = static_cast<C>(8 * sizeof(C));
    const bool past = b < C(0) || b >= kBits;
    if (left) return past ? C(0) : static_cast<C>(static_cast<U>(a) << b);
    const C sign = a < C(0) ? static_cast<C>(-1) : C(0);
    return past ? sign : static_cast<C>(a >> b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::BitShiftOperation, lathe::AllIntegers>();
