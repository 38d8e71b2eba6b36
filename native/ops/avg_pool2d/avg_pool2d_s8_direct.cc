// The mean of each window of bytes; 0 where no taps count. Sums are exact.
#include "native/kernel/quantised/byte_sums.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/spatial/byte_pool.h"

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

#if defined(__HVX__)
  void All(const BytePatch& patch, float taps, int channels, int8_t* to) const {
    for (int channel = 0; channel < channels; channel += kHvxBytes) {
      const int count = channels - channel < kHvxBytes ? channels - channel : kHvxBytes;
      HvxByteSums sums;
      patch.ForTaps([&](const int8_t* from) { sums.Add(LoadFew(from + channel, count)); });
      StoreMeans(means, sums, Offset(patch), taps, count, to + channel);
    }
  }
#else
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
#endif

  int32_t Offset(const BytePatch& patch) const {
    return means.x_zero * static_cast<int32_t>(patch.rows * patch.columns);
  }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BytePoolKernel<lathe::MeanBytes>();
