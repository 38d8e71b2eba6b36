// The tangent of an angle in radians.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct TanOperation : NoAttributes {
  float operator()(float x) const { return TanOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(tan_f32_simple__portable) = lathe::UnaryKernel<lathe::TanOperation>("tan_f32_simple__portable", "tan");
