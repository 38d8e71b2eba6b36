// x * max(0, min(1, x / 6 + 0.5)).
#ifndef LATHE_OPS_HARD_SWISH_HARD_SWISH_OPERATION_H_
#define LATHE_OPS_HARD_SWISH_HARD_SWISH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct HardSwishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return HardSwishOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_HARD_SWISH_HARD_SWISH_OPERATION_H_
