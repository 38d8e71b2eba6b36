// The remainder of a / b, with the sign of b or, as C's fmod, of a; integers over 0 are 0.
#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

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

LATHE_KERNEL(mod_any_generic__portable) =
    lathe::TypedBinaryKernel<lathe::ModOperation, lathe::OtherNumbers>("mod_any_generic__portable", "mod");
