// e^x.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  float operator()(float x) const { return Expf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(exp_f32_simple__portable) = lathe::UnaryKernel<lathe::ExpOperation>("exp_f32_simple__portable", "exp");
