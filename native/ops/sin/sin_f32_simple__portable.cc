// The sine of an angle in radians.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct SinOperation : NoAttributes {
  float operator()(float x) const { return SinOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sin_f32_simple__portable) = lathe::UnaryKernel<lathe::SinOperation>("sin_f32_simple__portable", "sin");
