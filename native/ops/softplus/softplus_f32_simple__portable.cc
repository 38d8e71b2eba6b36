// log(1 + e^x).
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct SoftplusOperation : NoAttributes {
  float operator()(float x) const { return Softplusf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(softplus_f32_simple__portable) =
    lathe::UnaryKernel<lathe::SoftplusOperation>("softplus_f32_simple__portable", "softplus");
