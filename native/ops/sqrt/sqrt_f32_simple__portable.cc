// Square root; NaN below 0.
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct SqrtOperation : NoAttributes {
  float operator()(float x) const { return __builtin_sqrtf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sqrt_f32_simple__portable) = lathe::UnaryKernel<lathe::SqrtOperation>("sqrt_f32_simple__portable", "sqrt");
