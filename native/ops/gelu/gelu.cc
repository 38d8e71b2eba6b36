// x times the normal distribution of x, by erf or by its approximation with tanh.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct GeluOperation {
  bool by_tanh;

  Code Read(const PrepareContext& context) {
    int choice = 0;
    LATHE_TRY(ReadChoice(context, "approximate", {"none", "tanh"}, &choice));
    by_tanh = choice == 1;
    return Code::kOk;
  }
  template <typename C>
  double operator()(C x) const {
    constexpr double kSqrtHalf = 0.70710678118654752440;
    constexpr double kSqrtTwoByPi = 0.79788456080286535588;
    const double wide = x;
    const double curve =
        by_tanh ? Tanh64(kSqrtTwoByPi * (wide + 0.044715 * wide * wide * wide)) : Erf(wide * kSqrtHalf);
    return 0.5 * wide * (1.0 + curve);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::GeluOperation, lathe::OtherFloats>();
