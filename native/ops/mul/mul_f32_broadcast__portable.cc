// a * b.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Mul(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(mul_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::MulOperation>("mul_f32_broadcast__portable", "mul");
