// The inverse of the hyperbolic tangent; not a number outside -1..1.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AtanhOperation : NoAttributes {
  float operator()(float x) const { return AtanhOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(atanh_f32_simple__portable) = lathe::UnaryKernel<lathe::AtanhOperation>("atanh_f32_simple__portable",
                                                                                     "atanh");
