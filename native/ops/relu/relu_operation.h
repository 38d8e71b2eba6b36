// max(x, 0); NaN stays NaN.
#ifndef LATHE_OPS_RELU_RELU_OPERATION_H_
#define LATHE_OPS_RELU_RELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return ReluOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_RELU_RELU_OPERATION_H_
