// The inverse of the hyperbolic tangent; not a number outside -1..1.
#ifndef LATHE_OPS_ATANH_ATANH_OPERATION_H_
#define LATHE_OPS_ATANH_ATANH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AtanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ATANH_ATANH_OPERATION_H_
