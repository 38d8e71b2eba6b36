// The next integer that is not smaller.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct CeilOperation : NoAttributes {
  float operator()(float x) const { return ceilf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(ceil_f32_simple__portable) = lathe::UnaryKernel<lathe::CeilOperation>("ceil_f32_simple__portable", "ceil");
