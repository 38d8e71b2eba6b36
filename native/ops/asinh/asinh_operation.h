// The inverse of the hyperbolic sine.
#ifndef LATHE_OPS_ASINH_ASINH_OPERATION_H_
#define LATHE_OPS_ASINH_ASINH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AsinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AsinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ASINH_ASINH_OPERATION_H_
