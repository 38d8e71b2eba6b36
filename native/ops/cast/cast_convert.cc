// Element types into one another; native/kernel/math/convert.h says how values are rounded and limited.
#include "native/kernel/check.h"
#include "native/kernel/math/convert.h"

namespace lathe {
namespace {

using Converter = void (*)(const void* from, void* to, int64_t begin, int64_t end);

struct State {
  Converter convert;
};

template <typename To, typename From>
void ConvertRange(const void* from, void* to, int64_t begin, int64_t end) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
  for (int64_t i = begin; i < end; ++i) target[i] = Convert<To>(source[i]);
}

Converter FindConverter(DType from, DType to) {
  Converter found = nullptr;
  WithTypeOf(from, [&](auto* source) {
    WithTypeOf(to, [&](auto* target) {
      using From = typename Pointee<decltype(source)>::Type;
      using To = typename Pointee<decltype(target)>::Type;
      found = ConvertRange<To, From>;
    });
  });
  return found;
}

Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  int64_t to = 0;
  LATHE_TRY(context.Int("to", &to));
  if (to != static_cast<int64_t>(context.output(0).dtype)) {
    return context.Fail(Code::kBadModel, "attribute 'to' is not the type of its output");
  }
  state.convert = FindConverter(context.input(0).dtype, context.output(0).dtype);
  if (state.convert == nullptr) return context.Fail(Code::kUnsupported, "a conversion between these types");
  return Code::kOk;
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void Run(const RunContext& context) {
  const Converter convert = context.State<State>().convert;
  const void* from = context.inputs[0].data;
  void* to = context.outputs[0].data;
  context.For(context.outputs[0].shape.Count(), 4096,
              [=](int64_t begin, int64_t end, int) { convert(from, to, begin, end); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
