// The larger of both; NaN wins.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct MaximumOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Larger(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(maximum_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::MaximumOperation>("maximum_f32_broadcast__portable", "maximum");
