#include "native/kernel/gemm/byte_state.h"

#include <string.h>

#include "native/kernel/quantised/fixed_factor.h"

namespace lathe {

namespace {

// Writes a filter's number for every byte of the packed order: `at(output, tap, depth)`, and zero outside.
template <typename At>
void FillPanels(const BytePanelShape& shape, int8_t* to, const At& at) {
  const int64_t outputs = shape.groups * shape.panels() * kBytePanel;
  for (int64_t first = 0; first < outputs; first += kBytePanel) {
    const int64_t panel = first / kBytePanel % shape.panels() * kBytePanel;
    for (int64_t tap = 0; tap < shape.taps; ++tap) {
      for (int64_t k = 0; k < shape.steps() * kByteDepth; k += kByteDepth) {
        for (int64_t j = 0; j < int64_t{kBytePanel} * kByteDepth; ++j, ++to) {
          const int64_t output = j / kByteDepth, depth = k + j % kByteDepth;
          const bool inside = panel + output < shape.outputs && depth < shape.depth;
          *to = inside ? at(first + output, tap, depth) : int8_t{0};
        }
      }
    }
  }
}

// Where the filter of an output at all panels' count is in the packed order.
int64_t PlaceOf(const BytePanelShape& shape, int64_t output, int64_t tap, int64_t depth) {
  const int64_t step = (output / kBytePanel * shape.taps + tap) * shape.steps() + depth / kByteDepth;
  return (step * kBytePanel + output % kBytePanel) * kByteDepth + depth % kByteDepth;
}

// Packs filters that come plain, or packed with their taps apart; `shape` is theirs, `state.shape` what it becomes.
void PackFilters(const BytePanelState& state, const BytePanelShape& shape, const Tensor& w, int8_t* to) {
  const int8_t* from = w.As<int8_t>();
  const BytePanelShape& own = state.shape;
  const int64_t whole = shape.panels() * kBytePanel;
  FillPanels(own, to, [&](int64_t output, int64_t tap, int64_t depth) {
    const int64_t inner = tap * own.depth + depth;  // of taps and depth in the order of plain filters
    if (w.packing == Packing::kNone)
      return from[(output / whole * shape.outputs + output % whole) * own.taps * own.depth + inner];
    return from[PlaceOf(shape, output, inner / shape.depth, inner % shape.depth)];
  });
}

// Sums of the filters of a panel, output by output.
struct PanelSums {
  uint32_t all[kBytePanel];
  uint32_t below[kBytePanel];  // of those below 0; only where they are asked for
};

constexpr int64_t kStepBytes = int64_t{kBytePanel} * kByteDepth;
constexpr int64_t kMostSteps = 128;  // whose sums fit what AddSteps adds them in

// Adds the filters of up to kMostSteps steps, those of two outputs in one register: reading the filters is most of what
// it takes to make an engine. Bytes are added with 128, as pairs in lanes of 16 bits. Gives whether one is -128.
bool AddSteps(const int8_t* packed, int64_t steps, bool below, PanelSums* sums) {
  constexpr uint64_t kSigns = 0x8080808080808080, kOnes = 0x0101010101010101, kLanes = 0x00ff00ff00ff00ff;
  const auto pairs = [](uint64_t bytes) { return (bytes & kLanes) + (bytes >> 8 & kLanes); };
  const auto lanes = [](uint64_t of, int half) {
    return static_cast<uint32_t>(of >> 32 * half & 0xffff) + static_cast<uint32_t>(of >> (32 * half + 16) & 0xffff);
  };
  uint64_t zeros = 0;
  for (int output = 0; output < kBytePanel; output += 2) {
    const int8_t* from = packed + output * kByteDepth;
    uint64_t all = 0, some = 0, count = 0;
    for (int64_t step = 0; step < steps; ++step, from += kStepBytes) {
      uint64_t bytes;
      memcpy(&bytes, from, sizeof bytes);
      bytes ^= kSigns;
      all += pairs(bytes);
      zeros |= (bytes - kOnes) & ~bytes & kSigns;
      if (!below) continue;
      const uint64_t negative = ~bytes >> 7 & kOnes;
      some += pairs(bytes & negative * 255);
      count += negative;
    }
    for (int half = 0; half < 2; ++half) {
      sums->all[output + half] += lanes(all, half) - static_cast<uint32_t>(128 * kByteDepth * steps);
      sums->below[output + half] += lanes(some, half) - 128 * lanes(pairs(count), half);
    }
  }
  return zeros != 0;
}

// What the zero point of x and the form add to the sum of an output, which starts take off again: the zero point and
// the offset times the sum of the filters, and what inverted numbers lack times that of those below 0. `filter_sums`
// may be null.
void AddStarts(const ByteForm& form, BytePanelState* state, int32_t* starts, int32_t* filter_sums = nullptr) {
  const BytePanelShape& shape = state->shape;
  const int8_t* packed = state->packed;
  const uint32_t added = static_cast<uint32_t>(state->x_zero + form.offset);
  for (int64_t group = 0; group < shape.groups; ++group) {
    for (int64_t first = 0; first < shape.outputs; first += kBytePanel) {
      PanelSums sums = {};
      for (int64_t left = shape.panel_bytes() / kStepBytes; left > 0; left -= kMostSteps) {
        const int64_t steps = left < kMostSteps ? left : kMostSteps;
        if (AddSteps(packed, steps, form.inverts, &sums)) state->lowest = true;
        packed += steps * kStepBytes;
      }
      for (int64_t j = 0; j < kBytePanel && first + j < shape.outputs; ++j) {
        int32_t* start = starts + group * shape.outputs + first + j;
        *start = static_cast<int32_t>(static_cast<uint32_t>(*start) - added * sums.all[j] - sums.below[j]);
        if (filter_sums != nullptr) *filter_sums++ = static_cast<int32_t>(sums.all[j]);
      }
    }
  }
}

// Two steps of 4 of depth become one of 8, output by output.
Code OrderEights(PrepareContext& context, BytePanelState* state) {
  const BytePanelShape& shape = state->shape;
  const int64_t steps = shape.steps(), eights = (steps + 1) / 2;
  state->panel_bytes = shape.taps * eights * 2 * kByteDepth * kBytePanel;
  int8_t* to = nullptr;
  LATHE_TRY(AllocateArray(context, shape.groups * shape.panels() * state->panel_bytes, &to));  // of zeros
  const int8_t* from = state->packed;
  state->packed = to;
  for (int64_t row = 0; row < shape.groups * shape.panels() * shape.taps; ++row) {
    for (int64_t step = 0; step < steps; ++step, from += int64_t{kBytePanel} * kByteDepth) {
      int8_t* target = to + (row * eights + step / 2) * 2 * kBytePanel * kByteDepth + step % 2 * kByteDepth;
      for (int64_t j = 0; j < kBytePanel; ++j) memcpy(target + j * 2 * kByteDepth, from + j * kByteDepth, kByteDepth);
    }
  }
  return Code::kOk;
}

// How large sums can become.
void FindLargest(BytePanelState* state) {
  const BytePanelShape& shape = state->shape;
  int64_t largest = 0, shifted = 0;
  for (int64_t i = 0; i < shape.groups * shape.outputs; ++i) {
    int32_t shift = 0, mantissa = 0;
    SplitFactor(state->factors[i], &shift, &mantissa);
    const int64_t panel = i / shape.outputs * shape.panels() + i % shape.outputs / kBytePanel;
    const int8_t* filter = state->packed + panel * shape.panel_bytes() + i % shape.outputs % kBytePanel * kByteDepth;
    const int64_t start = state->starts[i];
    int64_t sum = start < 0 ? -start : start;
    for (int64_t step = 0; step < shape.taps * shape.steps(); ++step, filter += kBytePanel * kByteDepth) {
      for (int k = 0; k < kByteDepth; ++k) sum += (filter[k] < 0 ? -filter[k] : filter[k]) * 128;
    }
    largest = sum > largest ? sum : largest;
    shifted = sum << shift > shifted ? sum << shift : shifted;
  }
  state->small_sums = shifted <= INT32_MAX;
  state->whole_sums = largest <= 1 << 24;
}

// Panels of a group become pairs, step by step; the last one may be alone. They begin at whole vectors. What sums begin
// with and the factors as SplitFactor gives them are in front of the pairs of a group: zeros behind its outputs.
Code OrderPairs(PrepareContext& context, BytePanelState* state) {
  constexpr int64_t kOutputs = 2 * kBytePanel, kVector = kOutputs * kByteDepth, kFlip = 0x80;
  FindLargest(state);
  const BytePanelShape& shape = state->shape;
  const int64_t steps = shape.taps * shape.steps(), pairs = (shape.panels() + 1) / 2;
  const int64_t group_bytes = pairs * (kPairHead + steps) * kVector;
  int8_t* memory = nullptr;
  LATHE_TRY(AllocateArray(context, shape.groups * group_bytes + kVector, &memory));  // of zeros
  int8_t* to = memory + (kVector - static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory) % kVector)) % kVector;
  const int8_t* from = state->packed;
  state->packed = to;
  state->panel_bytes = steps * kVector;
  for (int64_t group = 0; group < shape.groups; ++group, to += group_bytes) {
    for (int64_t panel = 0; panel < shape.panels(); ++panel) {
      int8_t* target = to + (pairs * kPairHead + panel / 2 * steps) * kVector + panel % 2 * (kVector / 2);
      for (int64_t step = 0; step < steps; ++step, target += kVector) {
        for (int64_t i = 0; i < kVector / 2; ++i) target[i] = static_cast<int8_t>(*from++ ^ kFlip);
      }
    }
    for (int64_t output = 0; output < shape.outputs; ++output) {
      const int64_t i = group * shape.outputs + output;
      auto* head = reinterpret_cast<int32_t*>(to) + output / kOutputs * kPairHead * kOutputs + output % kOutputs;
      head[0] = state->starts[i];
      SplitFactor(state->factors[i], head + kOutputs, head + 2 * kOutputs);
    }
  }
  return Code::kOk;
}

Code OrderAs(PrepareContext& context, const ByteForm& form, BytePanelState* state) {
  return form.eights ? OrderEights(context, state) : form.pairs ? OrderPairs(context, state) : Code::kOk;
}

// Takes filters as they come packed, or packs them. `state->shape` becomes that with so many taps `joined`.
Code TakeFilters(PrepareContext& context, int64_t joined, BytePanelState* state) {
  const BytePanelShape shape = state->shape;
  const Tensor& w = context.input(1);
  state->shape.taps = shape.taps / joined;
  state->shape.depth = shape.depth * joined;
  state->packed = w.As<int8_t>();
  state->panel_bytes = state->shape.panel_bytes();
  // Whole steps of taps lie one after the other in any case.
  if (w.packing != Packing::kNone && (joined == 1 || shape.depth % kByteDepth == 0)) return Code::kOk;
  int8_t* packed = nullptr;
  LATHE_TRY(AllocateArray(context, state->shape.bytes(), &packed));
  PackFilters(*state, shape, w, packed);
  state->packed = packed;
  return Code::kOk;
}

bool FiltersFit(const BytePanelShape& shape) {
  const int64_t depth = shape.taps * shape.depth;
  return shape.groups * shape.outputs <= kMaxPackedElements / depth && depth <= INT32_MAX / 32768;
}

// As many as there are outputs, and zeros behind them for two panels.
template <typename T>
Code AllocateOutputs(PrepareContext& context, const BytePanelShape& shape, T** array) {
  const int64_t outputs = shape.groups * shape.outputs;
  return AllocateArray(context, (outputs + kBytePanel - 1) / kBytePanel * kBytePanel + 2 * kBytePanel, array);
}

bool AllZero(const Quant& quant) {
  for (const int64_t zero : quant.zeros) {
    if (zero != 0) return false;
  }
  return true;
}

// One that leaves all sums of products finite, however instruction sets clip them.
Code ReadByteFactor(const PrepareContext& context, float from, float to, float* factor) {
  constexpr float kLargest = 1.0e24f;
  LATHE_TRY(ReadFactor(context, from, to, factor));
  return *factor <= kLargest ? Code::kOk : context.Fail(Code::kUnsupported, "its scales lie too far apart");
}

}  // namespace

Code PrepareByteResults(PrepareContext& context, BytePanelState* state, int32_t** made) {
  const BytePanelShape& shape = state->shape;
  const Tensor& w = context.input(1);
  const int64_t outputs = shape.groups * shape.outputs;
  Stored x = {}, y = {};
  LATHE_TRY(ReadStored(context, context.input(0), &x));
  LATHE_TRY(ReadStored(context, context.output(0), &y));
  if (context.input(0).dtype != DType::kS8 || w.dtype != DType::kS8 || context.output(0).dtype != DType::kS8)
    return context.Fail(Code::kUnsupported, "this kernel has other element types");
  if (w.quant == nullptr || !w.is_constant() || !AllZero(*w.quant))
    return context.Fail(Code::kUnsupported, "its filter is not constant and symmetric");
  const int64_t scales = static_cast<int64_t>(w.quant->scales.size());
  if (scales != 1 && scales != outputs)
    return context.Fail(Code::kUnsupported, "its filter has not a scale per output");
  if (!FiltersFit(shape)) return context.Fail(Code::kUnsupported, "its filters are too large");
  state->x_zero = x.zero;
  state->y_zero = y.zero;
  LATHE_TRY(ReadStoredClip(context, y, &state->low, &state->high));
  int32_t* starts = nullptr;
  float* factors = nullptr;
  LATHE_TRY(AllocateOutputs(context, shape, &starts));
  LATHE_TRY(AllocateOutputs(context, shape, &factors));
  for (int64_t i = 0; i < outputs; ++i) {
    const float scale = w.quant->scales[static_cast<size_t>(scales == 1 ? 0 : i)];
    LATHE_TRY(ReadByteFactor(context, x.scale * scale, y.scale, factors + i));
  }
  if (context.input_count() > 2) {
    const Tensor& bias = context.input(2);
    if (bias.dtype != DType::kS32 || !bias.is_constant())
      return context.Fail(Code::kUnsupported, "its bias is not constant, or no s32");
    LATHE_TRY(CheckRank(context, bias, 1, "its bias"));
    if (bias.shape[0] != outputs) return context.Fail(Code::kBadModel, "the bias does not have one number per output");
    memcpy(starts, bias.data, static_cast<size_t>(outputs) * sizeof *starts);
  }
  if (context.input_count() > 3) {
    Stored residual = {};
    if (context.input(3).dtype != DType::kS8) return context.Fail(Code::kUnsupported, "its residual is no s8");
    LATHE_TRY(ReadStored(context, context.input(3), &residual));
    LATHE_TRY(ReadByteFactor(context, residual.scale, y.scale, &state->residual_factor));
    state->residual_zero = residual.zero;
  }
  state->starts = *made = starts;
  state->factors = factors;
  return Code::kOk;
}

Code PrepareBytePanels(PrepareContext& context, const ByteForm& form, int64_t joined, BytePanelState* state) {
  int32_t* starts = nullptr;
  LATHE_TRY(PrepareByteResults(context, state, &starts));
  LATHE_TRY(TakeFilters(context, joined, state));
  AddStarts(form, state, starts);
  return OrderAs(context, form, state);
}

Code PrepareByteSums(PrepareContext& context, const ByteForm& form, int64_t joined, BytePanelState* state,
                     const int32_t** sums) {
  const BytePanelShape& shape = state->shape;
  if (!FiltersFit(shape)) return context.Fail(Code::kUnsupported, "its filters are too large");
  int32_t *starts = nullptr, *of_filters = nullptr;
  LATHE_TRY(AllocateOutputs(context, shape, &starts));
  LATHE_TRY(AllocateArray(context, shape.groups * shape.outputs, &of_filters));
  LATHE_TRY(TakeFilters(context, joined, state));
  AddStarts(form, state, starts, of_filters);
  state->starts = starts;
  *sums = of_filters;
  return OrderAs(context, form, state);
}

}  // namespace lathe
