// Negation.
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct NegOperation : NoAttributes {
  float operator()(float x) const { return -x; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(neg_f32_simple__portable) = lathe::UnaryKernel<lathe::NegOperation>("neg_f32_simple__portable", "neg");
