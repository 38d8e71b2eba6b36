// The cosine of an angle in radians.
#ifndef LATHE_OPS_COS_COS_OPERATION_H_
#define LATHE_OPS_COS_COS_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct CosOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return CosOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_COS_COS_OPERATION_H_
