// max(x, 0); NaN stays NaN. The header of an instruction set goes before this one.
#ifndef LATHE_OPS_RELU_RELU_SIMPLE_H_
#define LATHE_OPS_RELU_RELU_SIMPLE_H_

#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct ReluOperation : NoAttributes {
  Vec operator()(Vec x) const { return AtLeast(x, Fill(0.0f)); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_RELU_RELU_SIMPLE_H_
