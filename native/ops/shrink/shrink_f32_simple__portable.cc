// Numbers within lambd of 0 become 0, others come nearer to 0 by bias.
#include "native/core/elementwise.h"

namespace lathe {
namespace {

struct ShrinkOperation {
  float lambd;
  float bias;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(context.Float("lambd", &lambd));
    return context.Float("bias", &bias);
  }
  float operator()(float x) const { return x < -lambd ? x + bias : (x > lambd ? x - bias : 0.0f); }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL(shrink_f32_simple__portable) = lathe::UnaryKernel<lathe::ShrinkOperation>("shrink_f32_simple__portable",
                                                                                       "shrink");
