// The arctangent.
#ifndef LATHE_OPS_ATAN_ATAN_OPERATION_H_
#define LATHE_OPS_ATAN_ATAN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AtanOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return AtanOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ATAN_ATAN_OPERATION_H_
