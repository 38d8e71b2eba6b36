// The square root; NaN below 0.
#ifndef LATHE_OPS_SQRT_SQRT_OPERATION_H_
#define LATHE_OPS_SQRT_SQRT_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SqrtOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SqrtOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SQRT_SQRT_OPERATION_H_
