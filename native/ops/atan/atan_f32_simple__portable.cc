// The arctangent.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AtanOperation : NoAttributes {
  float operator()(float x) const { return AtanOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(atan_f32_simple__portable) = lathe::UnaryKernel<lathe::AtanOperation>("atan_f32_simple__portable", "atan");
