// x * tanh(softplus(x)).
#ifndef LATHE_OPS_MISH_MISH_OPERATION_H_
#define LATHE_OPS_MISH_MISH_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct MishOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x * TanhOf(SoftplusOf(x));
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_MISH_MISH_OPERATION_H_
