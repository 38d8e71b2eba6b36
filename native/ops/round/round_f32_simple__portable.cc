// The nearest whole number; of two equally near ones the even one.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct RoundOperation : NoAttributes {
  float operator()(float x) const { return RoundOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(round_f32_simple__portable) = lathe::UnaryKernel<lathe::RoundOperation>("round_f32_simple__portable",
                                                                                     "round");
