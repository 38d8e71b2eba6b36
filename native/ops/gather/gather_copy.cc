// y[..., i, ...] = x[..., indices[i], ...] along an axis.
//
// Indices outside the axis are an error where they are constant. Those that are computed at run time are limited to
// the axis: `run` cannot fail, and must not read elsewhere.
#include "native/kernel/loops/copy.h"
#include "native/kernel/simd/interleave.h"

namespace lathe {
namespace {

struct State {
  int64_t axis;
};

inline int64_t IndexAt(const Tensor& indices, int64_t at) {
  return indices.dtype == DType::kS32 ? indices.As<int32_t>()[at] : indices.As<int64_t>()[at];
}

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  if (SizeOf(x.dtype) == 0 || context.output(0).dtype != x.dtype) {
    return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  if (indices.dtype != DType::kS32 && indices.dtype != DType::kS64) {
    return context.Fail(Code::kUnsupported, "this kernel has other types of indices");
  }
  if (x.shape.rank + indices.shape.rank - 1 > kMaxRank) return context.Fail(Code::kBadModel, "its rank is too large");
  return ReadInt(context, "axis", 0, x.shape.rank - 1, &static_cast<State*>(context.state())->axis);
}

// Whether single elements are gathered, the same ones of several rows.
inline bool GathersElements(const Shape& x, int axis, int64_t count) {
  return x.Count(axis + 1, x.rank) == 1 && x.Count(0, axis) > 1 && x[axis] <= INT32_MAX && count <= kMaxPackedElements;
}

Code PlanRun(PlanContext& context) {
  const int axis = static_cast<int>(static_cast<const State*>(context.state())->axis);
  const Shape& in = context.input(0).shape;
  const Tensor& indices = context.input(1);
  Shape expected = {};
  for (int i = 0; i < axis; ++i) expected.dims[expected.rank++] = in[i];
  for (int i = 0; i < indices.shape.rank; ++i) expected.dims[expected.rank++] = indices.shape[i];
  for (int i = axis + 1; i < in.rank; ++i) expected.dims[expected.rank++] = in[i];
  LATHE_TRY(CheckShape(context, 0, expected));
  const int64_t count = indices.shape.Count();
  if (in[axis] == 0 && expected.Count() > 0) return context.Fail(Code::kBadModel, "it gathers from nothing");
  for (int64_t i = 0; indices.is_constant() && i < count; ++i) {
    const int64_t index = IndexAt(indices, i);
    if (index < -in[axis] || index >= in[axis]) return context.Fail(Code::kBadModel, "an index is out of range");
  }
  if (!GathersElements(in, axis, count)) return Code::kOk;
  return RequestScratch(context, count * static_cast<int64_t>(sizeof(int32_t)));
}

inline int64_t PlaceAt(const Tensor& indices, int64_t at, int64_t size) {
  int64_t index = IndexAt(indices, at);
  if (index < 0) index = index < -size ? 0 : index + size;
  return index >= size ? size - 1 : index;
}

// Whether every other element comes from one stretch, and those between them from another.
inline bool AlternatesStretches(const int32_t* places, int64_t count) {
  if (count < 4) return false;
  for (int64_t i = 2; i < count; ++i) {
    if (places[i] != places[i - 2] + 1) return false;
  }
  return true;
}

// Single elements, as channels are shuffled: the places are computed once, into scratch memory.
template <typename T>
void GatherElements(const RunContext& context, int64_t rows, int64_t size, int64_t count) {
  const Tensor& indices = context.inputs[1];
  const Tensor& out = context.outputs[0];
  const int64_t width = out.pitch == 0 ? count : out.shape[-1];
  const int64_t step = out.pitch == 0 ? count : out.pitch;
  int32_t* places = static_cast<int32_t*>(context.scratch);
  for (int64_t i = 0; i < count; ++i) places[i] = static_cast<int32_t>(PlaceAt(indices, i, size));
  const T* from = context.inputs[0].As<T>();
  T* to = context.outputs[0].As<T>();
  const int64_t lines = count / width;  // of the output, from a row of the input
  const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
  const int64_t pairs = count / 2;
  const bool alternates = lines == 1 && AlternatesStretches(places, count);
  context.For(rows, kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain), [=](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const T* source = from + row * size;
      T* target = to + row * lines * step;
      if (alternates && Interleave(source + places[0], places[1] - places[0], 2, pairs, target)) {
        if (count % 2 != 0) target[count - 1] = source[places[count - 1]];
        continue;
      }
      for (const int32_t* place = places; place < places + count; place += width, target += step) {
        for (int64_t i = 0; i < width; ++i) target[i] = source[place[i]];
      }
    }
  });
}

void GatherStretches(const RunContext& context, int64_t rows, int64_t size, int64_t count, int64_t bytes) {
  const Tensor& indices = context.inputs[1];
  const char* from = static_cast<const char*>(context.inputs[0].data);
  char* to = static_cast<char*>(context.outputs[0].data);
  const Tensor& out = context.outputs[0];
  // Where the rows of the output lie apart a stretch goes by in rows, or is an element of one.
  const int64_t element = static_cast<int64_t>(SizeOf(out.dtype));
  const int64_t width = (out.pitch == 0 ? 1 : out.shape[-1]) * element;
  const int64_t step = (out.pitch == 0 ? 1 : out.pitch) * element;
  const int64_t line = out.pitch == 0 || bytes < width ? bytes : width;
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(rows * count, grain, [=, &indices](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t place = item / count * size + PlaceAt(indices, item % count, size);
      for (int64_t done = 0; done < bytes; done += line) {
        const int64_t at = item * bytes + done;
        memcpy(to + at / width * step + at % width, from + place * bytes + done, static_cast<size_t>(line));
      }
    }
  });
}

void Run(const RunContext& context) {
  const int axis = static_cast<int>(context.State<State>().axis);
  const Tensor& x = context.inputs[0];
  const int64_t rows = x.shape.Count(0, axis);
  const int64_t size = x.shape[axis];
  const int64_t count = context.inputs[1].shape.Count();
  const int64_t bytes = x.shape.Count(axis + 1, x.shape.rank) * static_cast<int64_t>(SizeOf(x.dtype));
  if (bytes == 0 || rows == 0 || count == 0) return;
  const Tensor& out = context.outputs[0];
  const bool whole_rows = out.pitch == 0 || count % out.shape[-1] == 0;
  if (!whole_rows || !GathersElements(x.shape, axis, count)) return GatherStretches(context, rows, size, count, bytes);
  switch (SizeOf(x.dtype)) {
    case 1:
      return GatherElements<uint8_t>(context, rows, size, count);
    case 2:
      return GatherElements<uint16_t>(context, rows, size, count);
    case 4:
      return GatherElements<uint32_t>(context, rows, size, count);
    default:
      return GatherElements<uint64_t>(context, rows, size, count);
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
};
