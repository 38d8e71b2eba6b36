// e^x. The header of an instruction set goes before this one.
#ifndef LATHE_OPS_EXP_EXP_F32_SIMPLE_H_
#define LATHE_OPS_EXP_EXP_F32_SIMPLE_H_

#include "native/core/vector_elementwise.h"
#include "native/core/vector_math.h"

namespace lathe {
namespace {

struct ExpOperation : NoAttributes {
  Vec operator()(Vec x) const { return Exp(x); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_EXP_EXP_F32_SIMPLE_H_
