// e^x.
#ifndef LATHE_OPS_EXP_EXP_OPERATION_H_
#define LATHE_OPS_EXP_EXP_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ExpOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_EXP_EXP_OPERATION_H_
