// smooth_step: y = x^2 (3 - 2x).
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct SmoothStepOperation : NoAttributes {
  float operator()(float x) const { return x * x * (3.0f - 2.0f * x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(smooth_step_f32_plain__portable) =
    lathe::UnaryKernel<lathe::SmoothStepOperation>("smooth_step_f32_plain__portable", "smooth_step");
