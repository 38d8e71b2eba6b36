// 1 / x; infinite at 0.
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct ReciprocalOperation : NoAttributes {
  float operator()(float x) const { return 1.0f / x; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reciprocal_f32_simple__portable) =
    lathe::UnaryKernel<lathe::ReciprocalOperation>("reciprocal_f32_simple__portable", "reciprocal");
