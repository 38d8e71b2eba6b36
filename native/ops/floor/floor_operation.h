// The largest whole number that is not above x.
#ifndef LATHE_OPS_FLOOR_FLOOR_OPERATION_H_
#define LATHE_OPS_FLOOR_FLOOR_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct FloorOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return FloorOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_FLOOR_FLOOR_OPERATION_H_
