// The nearest whole number; of two equally near ones the even one.
#ifndef LATHE_OPS_ROUND_ROUND_OPERATION_H_
#define LATHE_OPS_ROUND_ROUND_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct RoundOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return RoundOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ROUND_ROUND_OPERATION_H_
