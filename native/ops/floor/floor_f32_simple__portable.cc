// The next integer that is not larger.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct FloorOperation : NoAttributes {
  float operator()(float x) const { return floorf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(floor_f32_simple__portable) = lathe::UnaryKernel<lathe::FloorOperation>("floor_f32_simple__portable",
                                                                                     "floor");
