// The smaller of both; NaN wins.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct MinimumOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Smaller(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(minimum_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::MinimumOperation>("minimum_f32_broadcast__portable", "minimum");
