// max(0, min(1, alpha * x + beta)). The header of an instruction set goes before this one.
#ifndef LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_SIMPLE_H_
#define LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_functions.h"

namespace lathe {
namespace {

struct HardSigmoidOperation {
  float alpha;
  float beta;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("alpha", &alpha));
    return context.Float("beta", &beta);
  }
  Vec operator()(Vec x) const { return HardSigmoid(x, Fill(alpha), Fill(beta)); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_HARD_SIGMOID_HARD_SIGMOID_SIMPLE_H_
