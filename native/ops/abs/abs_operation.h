// Absolute value; the smallest of signed integers stays what it is.
#ifndef LATHE_OPS_ABS_ABS_OPERATION_H_
#define LATHE_OPS_ABS_ABS_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/integer.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct AbsOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    if constexpr (kIsFloat<C>) {
      return AbsOf(x);
    } else {
      return x < C(0) ? Wrapping<C>::Sub(0, x) : x;
    }
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ABS_ABS_OPERATION_H_
