// The hyperbolic cosine.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct CoshOperation : NoAttributes {
  float operator()(float x) const { return CoshOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cosh_f32_simple__portable) = lathe::UnaryKernel<lathe::CoshOperation>("cosh_f32_simple__portable", "cosh");
