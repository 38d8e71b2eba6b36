// From real numbers to stored ones and back, and from one way of storing to another.
#include "native/kernel/loops/elementwise.h"
#include "native/kernel/loops/typed.h"
#include "native/kernel/quantised/quantised.h"
#include "native/kernel/quantised/quantised_tensors.h"
#if defined(__HVX__)
#include "native/kernel/simd/look_up.h"
#endif

namespace lathe {
namespace {

struct State;
using Requantise = void (*)(const State& state, const void* from, void* to, int64_t begin, int64_t end);

struct State {
  Requantise convert;
  int32_t from_zero;
  int32_t to_zero;
  float factor;
#if defined(__HVX__)
  bool by_table;  // bytes to bytes
  uint8_t table[256];
#endif
};

using Stores = Types<int8_t, uint8_t, int16_t, uint16_t>;

template <typename To>
struct FromReal {
  static void Apply(const State& state, const void* from, void* to, int64_t begin, int64_t end) {
    const float* x = static_cast<const float*>(from);
    To* y = static_cast<To*>(to);
    for (int64_t i = begin; i < end; ++i) y[i] = Quantised<To>(x[i] * state.factor, state.to_zero);
  }
};

template <typename From>
struct ToReal {
  static void Apply(const State& state, const void* from, void* to, int64_t begin, int64_t end) {
    const From* x = static_cast<const From*>(from);
    float* y = static_cast<float*>(to);
    for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(x[i] - state.from_zero) * state.factor;
  }
};

template <typename From>
struct Between {
  template <typename To>
  struct And {
    static void Apply(const State& state, const void* from, void* to, int64_t begin, int64_t end) {
      const From* x = static_cast<const From*>(from);
      To* y = static_cast<To*>(to);
      for (int64_t i = begin; i < end; ++i) {
        y[i] = Quantised<To>(static_cast<float>(x[i] - state.from_zero) * state.factor, state.to_zero);
      }
    }
  };
};

Requantise FindBetween(DType from, DType to) {
  if (from == DType::kS8) return FindFor<Requantise, Between<int8_t>::And>(to, Stores());
  if (from == DType::kU8) return FindFor<Requantise, Between<uint8_t>::And>(to, Stores());
  if (from == DType::kS16) return FindFor<Requantise, Between<int16_t>::And>(to, Stores());
  return from == DType::kU16 ? FindFor<Requantise, Between<uint16_t>::And>(to, Stores()) : nullptr;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  const Tensor& x = context.input(0);
  const Tensor& y = context.output(0);
  Stored from = {1.0f, 0}, to = {1.0f, 0};
  if (x.dtype != DType::kF32) LATHE_TRY(ReadStored(context, x, &from));
  if (y.dtype != DType::kF32) LATHE_TRY(ReadStored(context, y, &to));
  state.convert = x.dtype == DType::kF32   ? FindFor<Requantise, FromReal>(y.dtype, Stores())
                  : y.dtype == DType::kF32 ? FindFor<Requantise, ToReal>(x.dtype, Stores())
                                           : FindBetween(x.dtype, y.dtype);
  if (state.convert == nullptr) return context.Fail(Code::kUnsupported, "this kernel has other element types");
  state.from_zero = from.zero;
  state.to_zero = to.zero;
  LATHE_TRY(ReadFactor(context, from.scale, to.scale, &state.factor));
#if defined(__HVX__)
  state.by_table = SizeOf(x.dtype) == 1 && SizeOf(y.dtype) == 1;
  uint8_t bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  if (state.by_table) state.convert(state, bytes, state.table, 0, 256);
#endif
  return Code::kOk;
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void Run(const RunContext& context) {
  const State& state = context.State<State>();
  const void* from = context.inputs[0].data;
  void* to = context.outputs[0].data;
#if defined(__HVX__)
  if (state.by_table) {
    const auto* bytes = static_cast<const uint8_t*>(from);
    auto* found = static_cast<uint8_t*>(to);
    return context.For(context.outputs[0].shape.Count(), kElementGrain, [&](int64_t begin, int64_t end, int) {
      LookUp(state.table, bytes + begin, found + begin, end - begin);
    });
  }
#endif
  context.For(context.outputs[0].shape.Count(), kElementGrain,
              [&](int64_t begin, int64_t end, int) { state.convert(state, from, to, begin, end); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
