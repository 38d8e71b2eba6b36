// The inverse of the hyperbolic cosine; not a number below 1.
#ifndef LATHE_OPS_ACOSH_ACOSH_OPERATION_H_
#define LATHE_OPS_ACOSH_ACOSH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AcoshOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AcoshOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ACOSH_ACOSH_OPERATION_H_
