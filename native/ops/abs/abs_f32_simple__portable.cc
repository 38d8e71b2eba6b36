// Absolute value.
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct AbsOperation : NoAttributes {
  float operator()(float x) const { return __builtin_fabsf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(abs_f32_simple__portable) = lathe::UnaryKernel<lathe::AbsOperation>("abs_f32_simple__portable", "abs");
