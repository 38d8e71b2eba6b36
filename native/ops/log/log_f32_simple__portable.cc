// Natural logarithm; -inf at 0, NaN below.
#include "native/core/elementwise.h"
#include "native/core/math.h"

namespace lathe {
namespace {

struct LogOperation : NoAttributes {
  float operator()(float x) const { return Logf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(log_f32_simple__portable) = lathe::UnaryKernel<lathe::LogOperation>("log_f32_simple__portable", "log");
