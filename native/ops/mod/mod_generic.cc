// The remainder of a / b, with the sign of b or, as C's fmod, of a; integers over 0 are 0.
#include "native/kernel/kernel_types.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/functions.h"
#include "native/kernel/math/integer.h"

namespace lathe {
namespace {

struct ModOperation {
  bool fmod;

  Code Read(const PrepareContext& context) { return ReadBool(context, "fmod", &fmod); }
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (kIsFloat<C>) {
      return fmod ? FmodOf(a, b) : FlooredModOf(a, b);
    } else {
      return fmod ? Wrapping<C>::Remainder(a, b) : Wrapping<C>::Modulo(a, b);
    }
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::ModOperation, lathe::KernelTypes<lathe::OtherNumbers>>();
