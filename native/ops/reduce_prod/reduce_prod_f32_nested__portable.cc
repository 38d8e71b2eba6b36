// The product.
#include "native/core/reduce.h"

namespace lathe {
namespace {

struct ProductFold : SumFold<float, double> {
  static double Initial() { return 1.0; }
  static double Add(double a, double b) { return a * b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(reduce_prod_f32_nested__portable) =
    lathe::ReduceKernel<lathe::ProductFold, float, double>("reduce_prod_f32_nested__portable", "reduce_prod");
