// The hyperbolic cosine.
#ifndef LATHE_OPS_COSH_COSH_OPERATION_H_
#define LATHE_OPS_COSH_COSH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_COSH_COSH_OPERATION_H_
