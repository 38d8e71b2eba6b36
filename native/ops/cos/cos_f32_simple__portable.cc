// The cosine of an angle in radians.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct CosOperation : NoAttributes {
  float operator()(float x) const { return CosOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(cos_f32_simple__portable) = lathe::UnaryKernel<lathe::CosOperation>("cos_f32_simple__portable", "cos");
