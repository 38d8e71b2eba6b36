// The mean of each window of bytes; 0 where no taps count. Sums are exact.
#ifndef LATHE_OPS_AVG_POOL2D_AVG_POOL2D_BYTES_H_
#define LATHE_OPS_AVG_POOL2D_AVG_POOL2D_BYTES_H_

#include "native/core/byte_pool.h"
#include "native/core/byte_sums.h"
#include "native/core/stored.h"

namespace lathe {
namespace {

struct MeanBytes {
  ByteMeans means;
  bool count_include_pad;

  Code Read(const PrepareContext& context) {
    ByteConversion conversion = {};
    LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &conversion));
    means = {conversion.zero, conversion.factor, conversion.steps};
    return ReadBool(context, "count_include_pad", &count_include_pad);
  }
  bool CountsPadding() const { return count_include_pad; }

  template <int width>
  void Stretch(const BytePatch& patch, float taps, int8_t* to) const {
    SixteenSums sums[width / kStretch];
    patch.ForTaps([&](const int8_t* from) {
      for (int i = 0; i < width / kStretch; ++i) sums[i].Add(from + i * kStretch);
    });
    for (int i = 0; i < width / kStretch; ++i) StoreMeans(means, sums[i], Offset(patch), taps, to + i * kStretch);
  }

  void One(const BytePatch& patch, float taps, int8_t* to) const {
    int32_t sum = 0;
    patch.ForTaps([&](const int8_t* from) { sum += *from; });
    *to = MeanOf(means, sum, Offset(patch), taps);
  }

  int32_t Offset(const BytePatch& patch) const {
    return means.x_zero * static_cast<int32_t>(patch.rows * patch.columns);
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_AVG_POOL2D_AVG_POOL2D_BYTES_H_
