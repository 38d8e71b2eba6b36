// smooth_step: y = x^2 (3 - 2x).
#include "native/kernel/loops/elementwise.h"

namespace lathe {
namespace {

struct SmoothStepOperation : NoAttributes {
  float operator()(float x) const { return x * x * (3.0f - 2.0f * x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::UnaryKernel<lathe::SmoothStepOperation>();
