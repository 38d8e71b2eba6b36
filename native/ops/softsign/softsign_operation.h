// x / (1 + |x|).
#ifndef LATHE_OPS_SOFTSIGN_SOFTSIGN_OPERATION_H_
#define LATHE_OPS_SOFTSIGN_SOFTSIGN_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SoftsignOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return x / (C(1) + AbsOf(x));
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SOFTSIGN_SOFTSIGN_OPERATION_H_
