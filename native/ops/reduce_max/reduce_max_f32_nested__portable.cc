// The largest element; NaN wins.
#include "native/core/vector_portable.h"
// The header of the instruction set goes first.
#include "native/core/vector_reduce.h"

namespace lathe {
namespace {

struct MaxOfFloats {
  static constexpr bool kEmptyAllowed = true;
  static float Initial() { return -HUGE_VALF; }
  static Vec Add(Vec a, Vec b) { return Larger(a, b); }
  static double Add(double a, double b) { return b > a || b != b ? b : a; }
  static float Result(double best, int64_t) { return static_cast<float>(best); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_max_f32_nested__portable) =
    lathe::VectorReduceKernel<lathe::MaxOfFloats>("reduce_max_f32_nested__portable", "reduce_max");
