// The product.
#include "native/kernel/loops/reduce.h"

namespace lathe {
namespace {

struct ProductFold : SumFold<float, double> {
  static double Initial() { return 1.0; }
  static double Add(double a, double b) { return a * b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ReduceKernel<lathe::ProductFold, float, double>();
