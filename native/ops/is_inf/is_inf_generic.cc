// Whether it is one of the infinities that are looked for.
#include "native/kernel/loops/typed.h"
#include "native/kernel/math/math.h"

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

LATHE_KERNEL = lathe::TypedUnaryKernel<lathe::IsInfOperation, lathe::AllFloats, lathe::Bool>();
