// max(x, 0); NaN stays NaN.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  Vec operator()(Vec x) const { return AtLeast(x, Fill(0.0f)); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(relu_f32_simple__portable) = lathe::VectorUnaryKernel<lathe::ReluOperation>("relu_f32_simple__portable",
                                                                                         "relu");
