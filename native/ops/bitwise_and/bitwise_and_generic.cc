// The bits that both have.
#include "native/kernel/loops/typed.h"

namespace lathe {
namespace {

struct BitwiseAndOperation : NoAttributes {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::TypedBinaryKernel<lathe::BitwiseAndOperation, lathe::AllIntegers>();
