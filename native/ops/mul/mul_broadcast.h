// a * b. The header of an instruction set goes before this one.
#ifndef LATHE_OPS_MUL_MUL_BROADCAST_H_
#define LATHE_OPS_MUL_MUL_BROADCAST_H_

#include "native/core/vector_elementwise.h"

namespace lathe {
namespace {

struct MulOperation : NoFinish<Element> {
  Vec operator()(Vec a, Vec b) const { return Mul(a, b); }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_MUL_MUL_BROADCAST_H_
