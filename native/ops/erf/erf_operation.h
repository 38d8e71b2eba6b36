// The error function.
#ifndef LATHE_OPS_ERF_ERF_OPERATION_H_
#define LATHE_OPS_ERF_ERF_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ErfOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ErfOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_ERF_ERF_OPERATION_H_
