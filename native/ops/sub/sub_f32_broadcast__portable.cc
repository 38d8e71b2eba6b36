// a - b.
#include "native/core/broadcast.h"

namespace lathe {
namespace {

struct SubOperation : NoFinish<float> {
  float operator()(float a, float b) const { return a - b; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(sub_f32_broadcast__portable) = lathe::BinaryKernel<lathe::SubOperation>("sub_f32_broadcast__portable",
                                                                                     "sub");
