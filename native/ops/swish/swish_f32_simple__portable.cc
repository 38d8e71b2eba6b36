// x * sigmoid(x).
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  float operator()(float x) const { return Swish(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(swish_f32_simple__portable) = lathe::UnaryKernel<lathe::SwishOperation>("swish_f32_simple__portable",
                                                                                     "swish");
