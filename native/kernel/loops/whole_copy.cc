#include "native/kernel/loops/whole_copy.h"

#include "native/kernel/check.h"

namespace lathe {

namespace {

int64_t BytesOf(const Tensor& tensor) { return tensor.shape.Count() * static_cast<int64_t>(SizeOf(tensor.dtype)); }

}  // namespace

void MoveTensor(const RunContext& context, const Tensor& from, const Tensor& to) {
  const int64_t there = BytesOf(from), room = BytesOf(to), bytes = there < room ? there : room;
  const char* source = static_cast<const char*>(from.data);
  char* target = static_cast<char*>(to.data);
  if (bytes == 0 || source == target) return;
  context.For(bytes, kCopyGrain, [=](int64_t begin, int64_t end, int) {
    memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
  });
}

Code PrepareWholeCopy(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  return CheckSameTypes(context);
}

Code PlanWholeCopy(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

void RunWholeCopy(const RunContext& context) { MoveTensor(context, context.inputs[0], context.outputs[0]); }

}  // namespace lathe
