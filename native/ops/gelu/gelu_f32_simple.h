// x times the normal distribution of x, by erf or by its approximation with tanh. The header of an instruction set goes
// before this one.
#ifndef LATHE_OPS_GELU_GELU_F32_SIMPLE_H_
#define LATHE_OPS_GELU_GELU_F32_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_math.h"

namespace lathe {
namespace {

struct GeluOperation {
  bool by_tanh;

  Code Read(const PrepareContext& context) {
    int choice = 0;
    LATHE_TRY(ReadChoice(context, "approximate", {"none", "tanh"}, &choice));
    by_tanh = choice == 1;
    return Code::kOk;
  }
  Vec operator()(Vec x) const { return by_tanh ? GeluByTanh(x) : Gelu(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_GELU_GELU_F32_SIMPLE_H_
