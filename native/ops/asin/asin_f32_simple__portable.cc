// The arcsine; not a number outside -1..1.
#include "native/core/elementwise.h"
#include "native/core/functions.h"

namespace lathe {
namespace {

struct AsinOperation : NoAttributes {
  float operator()(float x) const { return AsinOf(x); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(asin_f32_simple__portable) = lathe::UnaryKernel<lathe::AsinOperation>("asin_f32_simple__portable", "asin");
