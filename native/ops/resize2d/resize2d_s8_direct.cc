// Images of bytes of another size.
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/look_up.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/sixteen.h"
#include "native/ops/resize2d/resize2d_pixels.h"

namespace lathe {
namespace {

struct ByteResizeState {
  State samples;  // stands first: PlanRun reads it there
  ByteConversion conversion;
  bool same;
#if defined(__HVX__)
  uint8_t table[256];  // what each byte becomes, by its bits
#endif
};

inline Code PrepareByteResize(PrepareContext& context) {
  ByteResizeState& state = *static_cast<ByteResizeState*>(context.state());
  LATHE_TRY(Prepare<int8_t>(context));
  LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &state.conversion));
  state.same = state.conversion.factor == 1.0f && state.conversion.zero == state.conversion.steps.zero;
#if defined(__HVX__)
  for (int bits = 0; bits < 256; ++bits)
    state.table[bits] = static_cast<uint8_t>(ConvertByte(state.conversion, static_cast<int8_t>(bits)));
#endif
  return Code::kOk;
}

// Four pixels and how much of each: rows, then columns.
struct ByteCorners {
  const int8_t* pixels[4];
  float down;
  float across;
};

// A stretch of channels.
inline Sixteen MixBytes(const ByteConversion& conversion, const ByteCorners& corners, int64_t channel, int64_t count) {
  Sixteen steps[4];
  for (int corner = 0; corner < 4; ++corner) {
    const int8_t* from = corners.pixels[corner] + channel;
    int8_t bytes[kStretch];
    if (count < kStretch) LoadSome(from, count, bytes);
    steps[corner] = Sixteen::OfBytes(count < kStretch ? bytes : from, conversion.zero);
  }
  const Sixteen up = Sixteen::Fill(1.0f - corners.down), down = Sixteen::Fill(corners.down);
  const Sixteen near = Sixteen::Fill(1.0f - corners.across), far = Sixteen::Fill(corners.across);
  const Sixteen first = steps[0] * up + steps[1] * down, second = steps[2] * up + steps[3] * down;
  return (first * near + second * far) * Sixteen::Fill(conversion.factor);
}

#if defined(__HVX__)

// Weights that are eighths, both along the rows and the columns: single precision has all sums whole, and so do 16
// bits. Images that are stored as they come have such weights where they become two or four times as large.
constexpr int kEighths = 8, kMixDigits = 6;

class HvxMixer {
 public:
  HvxMixer(int down, int across, int zero) {
    const int rows[] = {kEighths - down, down}, columns[] = {kEighths - across, across};
    for (int i = 0; i < 4; ++i) weights_[i] = Q6_Vb_vsplat_R(rows[i % 2] * columns[i / 2]);
    zeros_ = Q6_Vh_vsplat_R(zero * (1 << kMixDigits));
    zero_ = Q6_Vh_vsplat_R(zero);
  }

  LATHE_INLINE HVX_Vector operator()(const HVX_Vector (&x)[4]) const {
    HVX_VectorPair sums = Q6_Wh_vmpy_VbVb(x[0], weights_[0]);
#pragma clang loop unroll(full)
    for (int i = 1; i < 4; ++i) sums = Q6_Wh_vmpyacc_WhVbVb(sums, x[i], weights_[i]);
    return Q6_Vb_vshuffe_VbVb(Rounded(Q6_V_hi_W(sums)), Rounded(Q6_V_lo_W(sums)));  // of odd and even places
  }

 private:
  // Half to even, zero point not added.
  LATHE_INLINE HVX_Vector Rounded(HVX_Vector sums) const {
    const HVX_Vector steps = Q6_Vh_vsub_VhVh(sums, zeros_);
    const HVX_Vector odd = Q6_V_vand_VV(Q6_Vh_vasr_VhR(steps, kMixDigits), Q6_Vh_vsplat_R(1));
    const HVX_Vector added = Q6_Vh_vadd_VhVh(steps, Q6_Vh_vadd_VhVh(odd, Q6_Vh_vsplat_R((1 << (kMixDigits - 1)) - 1)));
    return Q6_Vh_vadd_VhVh(Q6_Vh_vasr_VhR(added, kMixDigits), zero_);
  }

  HVX_Vector weights_[4];
  HVX_Vector zeros_;  // 64 times the zero point
  HVX_Vector zero_;
};

// Whether a weight is `*eighths`.
inline bool IsEighths(float weight, int* eighths) {
  const float scaled = weight * kEighths;
  *eighths = static_cast<int>(scaled);
  return static_cast<float>(*eighths) == scaled;
}

// A pixel where weights are such; false where others are.
inline bool MixPixel(const ByteResizeState& state, const ByteCorners& corners, int channels, int8_t* to) {
  int down = 0, across = 0;
  if (!state.same || !IsEighths(corners.down, &down) || !IsEighths(corners.across, &across)) return false;
  const HvxMixer mixer(down, across, state.conversion.zero);
  for (int channel = 0; channel < channels; channel += kHvxBytes) {
    const int count = channels - channel < kHvxBytes ? channels - channel : kHvxBytes;
    HVX_Vector x[4];
    for (int i = 0; i < 4; ++i) x[i] = LoadFew(corners.pixels[i] + channel, count);
    StoreBytes(mixer(x), count, to + channel);
  }
  return true;
}

inline void ConvertPixel(const ByteResizeState& state, const int8_t* from, int64_t channels, int8_t* to) {
  LookUp(state.table, reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to), channels);
}

#else

inline bool MixPixel(const ByteResizeState&, const ByteCorners&, int, int8_t*) { return false; }

inline void ConvertPixel(const ByteResizeState& state, const int8_t* from, int64_t channels, int8_t* to) {
  ConvertBytes(state.conversion, from, to, channels);
}

#endif

inline void RunByteResizeLine(const ByteResizeState& state, const int8_t* top, const int8_t* bottom, float down,
                              const Sample* columns, const Shape& out, int8_t* to) {
  const int64_t channels = out[3];
  for (int64_t i = 0; i < out[2]; ++i, to += channels) {
    const int64_t left = columns[i].below * channels, right = columns[i].above * channels;
    if (!state.samples.linear && state.same) {
      CopyBytes(to, top + left, channels);
    } else if (!state.samples.linear) {
      ConvertPixel(state, top + left, channels, to);
    } else {
      const ByteCorners corners = {{top + left, bottom + left, top + right, bottom + right}, down, columns[i].weight};
      if (MixPixel(state, corners, static_cast<int>(channels), to)) continue;
      int64_t channel = 0;
      for (; channel + kStretch <= channels; channel += kStretch) {
        MixBytes(state.conversion, corners, channel, kStretch).Store(state.conversion.steps, to + channel);
      }
      const int64_t rest = channels - channel;
      if (rest > 0) {
        const Sixteen mixed = MixBytes(state.conversion, corners, channel, rest);
        StoreSome(mixed, state.conversion.steps, to + channel, rest);
      }
    }
  }
}

void RunByteResize(const RunContext& context) {
  const ByteResizeState& state = context.State<ByteResizeState>();
  const Shape& in = context.inputs[0].shape;
  const Shape& out = context.outputs[0].shape;
  const int8_t* from = context.inputs[0].As<int8_t>();
  int8_t* to = context.outputs[0].As<int8_t>();
  Sample* rows = static_cast<Sample*>(context.scratch);
  Sample* columns = rows + out[1];
  if (out.Count() == 0) return;  // without channels there may be any number of pixels
  FillSamples(state.samples, 0, in[1], out[1], rows);
  FillSamples(state.samples, 1, in[2], out[2], columns);
  const int64_t line = in[2] * in[3];
  context.For(out[0] * out[1], 1, [=, &state, &in, &out](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const Sample& row = rows[item % out[1]];
      const int8_t* image = from + item / out[1] * in[1] * line;
      RunByteResizeLine(state, image + row.below * line, image + row.above * line, row.weight, columns, out,
                        to + item * out[2] * out[3]);
    }
  });
}

constexpr KernelFunctions ByteResizeKernel() {
  return {
      .state_size = sizeof(ByteResizeState),
      .prepare = PrepareByteResize,
      .plan = PlanRun,
      .run = RunByteResize,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteResizeKernel();
