// Numbers within lambd of 0 become 0, others come nearer to 0 by bias; integers are then cut towards zero.
#include "native/kernel/loops/unary.h"

namespace lathe {
namespace {

// What a type is computed in: integers in double, since bias and lambd have fractions.
template <typename C>
struct WideOf {
  using Type = double;
};
template <>
struct WideOf<float> {
  using Type = float;
};

struct ShrinkOperation {
  float lambd;
  float bias;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("lambd", &lambd));
    return context.Float("bias", &bias);
  }
  template <typename C>
  auto operator()(C x) const {
    using Wide = typename WideOf<C>::Type;
    const Wide wide = static_cast<Wide>(x);
    return wide < -lambd ? wide + static_cast<Wide>(bias) : (wide > lambd ? wide - static_cast<Wide>(bias) : Wide(0));
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::ShrinkOperation, lathe::OtherNumbers>();
