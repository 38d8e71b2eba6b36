// The hyperbolic tangent.
#ifndef LATHE_OPS_TANH_TANH_OPERATION_H_
#define LATHE_OPS_TANH_TANH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct TanhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanhOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_TANH_TANH_OPERATION_H_
