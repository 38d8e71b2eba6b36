// The hyperbolic sine.
#ifndef LATHE_OPS_SINH_SINH_OPERATION_H_
#define LATHE_OPS_SINH_SINH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SinhOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SinhOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SINH_SINH_OPERATION_H_
