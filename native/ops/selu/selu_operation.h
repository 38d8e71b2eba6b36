// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
#ifndef LATHE_OPS_SELU_SELU_OPERATION_H_
#define LATHE_OPS_SELU_SELU_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct SeluOperation {
  float alpha;
  float gamma;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("gamma", &gamma);
  }
  template <typename C>
  C operator()(C x) const {
    return static_cast<C>(gamma) * (x > C(0) ? x : static_cast<C>(alpha) * Expm1Of(x));
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SELU_SELU_OPERATION_H_
