// Hyperbolic tangent.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  float operator()(float x) const { return Tanhf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(tanh_f32_simple__portable) = lathe::UnaryKernel<lathe::TanhOperation>("tanh_f32_simple__portable", "tanh");
