// x / (1 + |x|).
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct SoftsignOperation : NoAttributes {
  float operator()(float x) const { return x / (1.0f + AbsOf(x)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(softsign_f32_simple__portable) =
    lathe::UnaryKernel<lathe::SoftsignOperation>("softsign_f32_simple__portable", "softsign");
