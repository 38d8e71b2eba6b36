// x / scale, rounded half to even, plus the zero point: for whole tensors, per element of an axis, and per block.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "native/kernel/loops/typed.h"
#include "native/kernel/quantised/quantised.h"

namespace lathe {
namespace {

using Quantise = void (*)(const RunContext& context, int64_t begin, int64_t end);

struct State {
  AffineState affine;
  Quantise quantise;
};

// Elements with one scale, as many as vectors hold; how many these are.
template <typename From, typename To>
int64_t QuantiseVectors(const From*, int64_t, From, int32_t, To*) {
  return 0;
}

#if defined(__AVX2__)

// What is not a number becomes 0 and so the zero point, as everywhere. Limits are integers: they may come before the
// rounding.
inline __m256i WholeSteps(const float* x, __m256 scale, __m256 low, __m256 high, __m256i zero) {
  const __m256 steps = _mm256_div_ps(_mm256_loadu_ps(x), scale);
  const __m256 number = _mm256_and_ps(steps, _mm256_cmp_ps(steps, steps, _CMP_ORD_Q));
  return _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(number, low), high)), zero);
}

template <typename Byte>
int64_t QuantiseBytes(const float* x, int64_t count, float scale, int32_t zero_point, Byte* y) {
  constexpr int64_t kVector = 32;
  const __m256 scales = _mm256_set1_ps(scale);
  const __m256 low = _mm256_set1_ps(static_cast<float>(Limits<Byte>::kLow - zero_point));
  const __m256 high = _mm256_set1_ps(static_cast<float>(Limits<Byte>::kHigh - zero_point));
  const __m256i zero = _mm256_set1_epi32(zero_point);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  int64_t i = 0;
  for (; i + kVector <= count; i += kVector) {
    __m256i parts[4];
    for (int j = 0; j < 4; ++j) parts[j] = WholeSteps(x + i + 8 * j, scales, low, high, zero);
    const __m256i first = _mm256_packs_epi32(parts[0], parts[1]), second = _mm256_packs_epi32(parts[2], parts[3]);
    const __m256i bytes =
        Limits<Byte>::kLow < 0 ? _mm256_packs_epi16(first, second) : _mm256_packus_epi16(first, second);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + i), _mm256_permutevar8x32_epi32(bytes, order));
  }
  return i;
}

template <>
int64_t QuantiseVectors(const float* x, int64_t count, float scale, int32_t zero_point, int8_t* y) {
  return QuantiseBytes(x, count, scale, zero_point, y);
}

template <>
int64_t QuantiseVectors(const float* x, int64_t count, float scale, int32_t zero_point, uint8_t* y) {
  return QuantiseBytes(x, count, scale, zero_point, y);
}

#endif

template <typename From, typename To>
void QuantiseAll(const RunContext& context, int64_t begin, int64_t end) {
  const From* x = context.inputs[0].As<From>();
  const From* scale = context.inputs[1].As<From>();
  const To* zero_point = context.input_count > 2 ? context.inputs[2].As<To>() : nullptr;
  To* y = context.outputs[0].As<To>();
  ForAffineStretches(
      context.Plan<AffinePlan>(), begin, end, [&](int64_t at, int64_t last, int64_t index, int64_t step) {
        if (step == 0) {
          const int32_t zero = zero_point == nullptr ? 0 : zero_point[index];
          at += QuantiseVectors(x + at, last - at, scale[index], zero, y + at);
        }
        for (; at < last; ++at, index += step) {
          y[at] = Quantised<To>(Widen(x[at]) / Widen(scale[index]), zero_point == nullptr ? 0 : zero_point[index]);
        }
      });
}

template <typename To>
struct FromFloat {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    QuantiseAll<float, To>(context, begin, end);
  }
};

template <typename To>
struct FromHalf {
  static void Apply(const RunContext& context, int64_t begin, int64_t end) {
    QuantiseAll<Half, To>(context, begin, end);
  }
};

Code Prepare(PrepareContext& context) {
  using Results = Types<int8_t, uint8_t, int16_t, uint16_t>;
  State& state = *static_cast<State*>(context.state());
  const DType from = context.input(0).dtype;
  const DType to = context.output(0).dtype;
  if (from == DType::kF32) state.quantise = FindFor<Quantise, FromFloat>(to, Results());
  if (from == DType::kF16) state.quantise = FindFor<Quantise, FromHalf>(to, Results());
  if (state.quantise == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other element types");
  if (context.input(1).dtype != from) return context.Fail(Code::kBadModel, "its scale has another type than x");
  return PrepareAffine(context, to);
}

void Run(const RunContext& context) {
  const Quantise quantise = context.State<State>().quantise;
  context.For(context.outputs[0].shape.Count(), kElementGrain,
              [&](int64_t begin, int64_t end, int) { quantise(context, begin, end); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::AffinePlan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanAffine,
    .run = lathe::Run,
};
