// The hyperbolic sine.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct SinhOperation : NoAttributes {
  float operator()(float x) const { return SinhOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sinh_f32_simple__portable) = lathe::UnaryKernel<lathe::SinhOperation>("sinh_f32_simple__portable", "sinh");
