// 1 / (1 + e^-x).
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  float operator()(float x) const { return Sigmoidf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sigmoid_f32_simple__portable) = lathe::UnaryKernel<lathe::SigmoidOperation>("sigmoid_f32_simple__portable",
                                                                                         "sigmoid");
