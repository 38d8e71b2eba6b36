// The natural logarithm; NaN below 0.
#include "native/core/functions.h"
#include "native/core/typed.h"

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

LATHE_KERNEL(log_any_generic__portable) =
    lathe::TypedUnaryKernel<lathe::LogOperation, lathe::OtherFloats>("log_any_generic__portable", "log");
