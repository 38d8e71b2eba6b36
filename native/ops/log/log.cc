// The natural logarithm; NaN below 0.
#include "native/kernel/loops/unary.h"
#include "native/kernel/math/functions.h"

namespace lathe {
namespace {

struct LogOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return LogOf(x);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::AnyUnaryKernel<lathe::LogOperation, lathe::OtherFloats>();
