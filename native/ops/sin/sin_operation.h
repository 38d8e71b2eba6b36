// The sine of an angle in radians.
#ifndef LATHE_OPS_SIN_SIN_OPERATION_H_
#define LATHE_OPS_SIN_SIN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SinOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SIN_SIN_OPERATION_H_
