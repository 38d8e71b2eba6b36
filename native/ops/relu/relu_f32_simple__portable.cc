// max(x, 0); NaN stays NaN.
#include "native/core/activation.h"
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  float operator()(float x) const { return Relu(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(relu_f32_simple__portable) = lathe::UnaryKernel<lathe::ReluOperation>("relu_f32_simple__portable", "relu");
