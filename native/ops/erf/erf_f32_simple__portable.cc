// The error function.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct ErfOperation : NoAttributes {
  float operator()(float x) const { return Erff(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(erf_f32_simple__portable) = lathe::UnaryKernel<lathe::ErfOperation>("erf_f32_simple__portable", "erf");
