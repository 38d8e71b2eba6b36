// The largest element; NaN wins.
#include "native/kernel/loops/vector_reduce.h"
#include "native/kernel/simd/simd.h"

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

LATHE_KERNEL = lathe::VectorReduceKernel<lathe::MaxOfFloats>();
