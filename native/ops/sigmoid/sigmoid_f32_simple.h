// 1 / (1 + e^-x). The header of an instruction set goes before this one.
#ifndef LATHE_OPS_SIGMOID_SIGMOID_F32_SIMPLE_H_
#define LATHE_OPS_SIGMOID_SIGMOID_F32_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_math.h"

namespace lathe {
namespace {

struct SigmoidOperation : NoAttributes {
  Vec operator()(Vec x) const { return Sigmoid(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_SIGMOID_SIGMOID_F32_SIMPLE_H_
