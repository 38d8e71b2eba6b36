// x where it is above alpha, else 0.
#ifndef LATHE_OPS_THRESHOLDED_RELU_THRESHOLDED_RELU_OPERATION_H_
#define LATHE_OPS_THRESHOLDED_RELU_THRESHOLDED_RELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct ThresholdedReluOperation {
  float alpha;

  Code Read(const PrepareContext& context) { return context.Float("alpha", &alpha); }
  template <typename C>
  C operator()(C x) const {
    return x > static_cast<C>(alpha) ? x : C(0);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_THRESHOLDED_RELU_THRESHOLDED_RELU_OPERATION_H_
