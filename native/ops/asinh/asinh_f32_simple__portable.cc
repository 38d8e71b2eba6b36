// The inverse of the hyperbolic sine.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AsinhOperation : NoAttributes {
  float operator()(float x) const { return AsinhOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(asinh_f32_simple__portable) = lathe::UnaryKernel<lathe::AsinhOperation>("asinh_f32_simple__portable",
                                                                                     "asinh");
