// x / (1 + e^-x).
#ifndef LATHE_OPS_SWISH_SWISH_OPERATION_H_
#define LATHE_OPS_SWISH_SWISH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SWISH_SWISH_OPERATION_H_
