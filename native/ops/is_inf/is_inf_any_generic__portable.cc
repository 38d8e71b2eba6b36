// Whether it is one of the infinities that are looked for.
#include "native/core/math.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct IsInfOperation {
  bool negative;
  bool positive;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(ReadBool(context, "negative", &negative));
    return ReadBool(context, "positive", &positive);
  }
  template <typename C>
  bool operator()(C x) const {
    return (negative && x == -HUGE_VAL) || (positive && x == HUGE_VAL);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(is_inf_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::IsInfOperation, lathe::AllFloats, lathe::Bool>("is_inf_any_generic__portable",
                                                                                  "is_inf");
