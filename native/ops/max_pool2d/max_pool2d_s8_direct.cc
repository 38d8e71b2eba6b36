// The largest byte of each window; padding never wins. Where results are stored in another way, the largest byte is
// still that of the largest number.
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/spatial/byte_pool.h"

namespace lathe {
namespace {

#if defined(__AVX2__)
constexpr int kMaxWidth = 32;  // bytes of a vector
#else
constexpr int kMaxWidth = 16;
#endif

struct MaxBytes {
  ByteConversion conversion;
  bool same;

  Code Read(const PrepareContext& context) {
    LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &conversion));
    same = conversion.factor == 1.0f && conversion.zero == conversion.steps.zero;
    return Code::kOk;
  }
  bool CountsPadding() const { return false; }

#if defined(__HVX__)
  // What stands behind the channels is not read, and of what is computed there nothing is stored.
  void All(const BytePatch& patch, float, int channels, int8_t* to) const {
    for (int channel = 0; channel < channels; channel += kHvxBytes) {
      const int count = channels - channel < kHvxBytes ? channels - channel : kHvxBytes;
      HVX_Vector best = Q6_Vb_vsplat_R(INT8_MIN);
      patch.ForTaps([&](const int8_t* from) { best = Q6_Vb_vmax_VbVb(best, LoadFew(from + channel, count)); });
      StoreBytes(best, count, to + channel);
    }
    if (!Converts(patch)) return;
    for (int channel = 0; channel < channels; ++channel) to[channel] = ConvertByte(conversion, to[channel]);
  }
#else
  template <int width>
  void Stretch(const BytePatch& patch, float, int8_t* to) const {
    constexpr int kBytes = width < kMaxWidth ? width : kMaxWidth;
    typedef int8_t Bytes __attribute__((vector_size(kBytes)));
    Bytes best[width / kBytes];
#pragma GCC unroll 8
    for (Bytes& part : best) part = Bytes{} + int8_t{INT8_MIN};
    patch.ForTaps([&](const int8_t* from) {
#pragma GCC unroll 8
      for (int i = 0; i < width / kBytes; ++i) {
        Bytes x;
        memcpy(&x, from + i * kBytes, sizeof x);
        best[i] = x > best[i] ? x : best[i];
      }
    });
#pragma GCC unroll 8
    for (int i = 0; i < width / kBytes; ++i) {
      const Bytes result = best[i];  // a copy: what has an address is kept in memory
      memcpy(to + i * kBytes, &result, sizeof result);
    }
    if (!Converts(patch)) return;
    for (int i = 0; i < width; i += kStretch) ConvertStretch(conversion, to + i, to + i);
  }

  void One(const BytePatch& patch, float, int8_t* to) const {
    int8_t best = INT8_MIN;
    patch.ForTaps([&](const int8_t* from) { best = *from > best ? *from : best; });
    *to = Converts(patch) ? ConvertByte(conversion, best) : best;
  }
#endif

  // The largest number of none is the least there is.
  bool Converts(const BytePatch& patch) const { return !same && patch.rows > 0 && patch.columns > 0; }
};

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::BytePoolKernel<lathe::MaxBytes>();
