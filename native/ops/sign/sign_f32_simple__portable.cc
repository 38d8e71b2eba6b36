// -1, 0 or 1; NaN stays NaN.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct SignOperation : NoAttributes {
  float operator()(float x) const { return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sign_f32_simple__portable) = lathe::UnaryKernel<lathe::SignOperation>("sign_f32_simple__portable", "sign");
