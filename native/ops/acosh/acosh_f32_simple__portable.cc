// The inverse of the hyperbolic cosine; not a number below 1.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AcoshOperation : NoAttributes {
  float operator()(float x) const { return AcoshOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(acosh_f32_simple__portable) = lathe::UnaryKernel<lathe::AcoshOperation>("acosh_f32_simple__portable",
                                                                                     "acosh");
