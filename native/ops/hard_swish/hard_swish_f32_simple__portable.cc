// x * clip(x / 6 + 1/2, 0, 1).
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  float operator()(float x) const { return HardSwish(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(hard_swish_f32_simple__portable) =
    lathe::UnaryKernel<lathe::HardSwishOperation>("hard_swish_f32_simple__portable", "hard_swish");
