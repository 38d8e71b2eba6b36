// The arccosine; not a number outside -1..1.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AcosOperation : NoAttributes {
  float operator()(float x) const { return AcosOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(acos_f32_simple__portable) = lathe::UnaryKernel<lathe::AcosOperation>("acos_f32_simple__portable", "acos");
