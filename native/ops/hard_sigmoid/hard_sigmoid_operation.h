// max(0, min(1, alpha * x + beta)).
#ifndef LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_OPERATION_H_
#define LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_OPERATION_H_

#include "native/core/functions.h"
#include "native/core/typed.h"

namespace lathe {
namespace {

struct HardSigmoidOperation {
  float alpha;
  float beta;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("beta", &beta);
  }
  template <typename C>
  C operator()(C x) const {
    return HardSigmoidOf<C>(x, static_cast<C>(alpha), static_cast<C>(beta));
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_OPERATION_H_
