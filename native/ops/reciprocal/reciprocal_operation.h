// 1 / x.
#ifndef LATHE_OPS_RECIPROCAL_RECIPROCAL_OPERATION_H_
#define LATHE_OPS_RECIPROCAL_RECIPROCAL_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ReciprocalOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return C(1) / x;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_RECIPROCAL_RECIPROCAL_OPERATION_H_
