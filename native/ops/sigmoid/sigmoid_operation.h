// 1 / (1 + e^-x).
#ifndef LATHE_OPS_SIGMOID_SIGMOID_OPERATION_H_
#define LATHE_OPS_SIGMOID_SIGMOID_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  template <typename C>
  C operator()(C x) const {
    return SigmoidOf(x);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SIGMOID_SIGMOID_OPERATION_H_
