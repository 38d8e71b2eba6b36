// x * tanh(softplus(x)).
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct MishOperation : NoAttributes {
  float operator()(float x) const { return x * TanhOf(SoftplusOf(x)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mish_f32_simple__portable) = lathe::UnaryKernel<lathe::MishOperation>("mish_f32_simple__portable", "mish");
