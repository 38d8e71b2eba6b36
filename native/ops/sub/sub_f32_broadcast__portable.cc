// a - b.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<float> {
  Vec operator()(Vec a, Vec b) const { return Sub(a, b); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sub_f32_broadcast__portable) =
    lathe::VectorBinaryKernel<lathe::SubOperation>("sub_f32_broadcast__portable", "sub");
