// The tangent of an angle in radians.
#ifndef LATHE_OPS_TAN_TAN_OPERATION_H_
#define LATHE_OPS_TAN_TAN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct TanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return TanOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_TAN_TAN_OPERATION_H_
