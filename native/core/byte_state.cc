#include "native/core/byte_state.h"

#include <string.h>

namespace lathe {

void PackBytePanels(const BytePanelShape& shape, const int8_t* from, uint8_t* to) {
  const int64_t inner = shape.taps * shape.depth;
  for (int64_t group = 0; group < shape.groups; ++group) {
    const int8_t* source = from + group * shape.outputs * inner;
    for (int64_t first = 0; first < shape.outputs; first += kBytePanel) {
      for (int64_t tap = 0; tap < shape.taps; ++tap) {
        for (int64_t k = 0; k < shape.steps() * kByteDepth; k += kByteDepth) {
          for (int64_t j = 0; j < kBytePanel * kByteDepth; ++j, ++to) {
            const int64_t output = first + j / kByteDepth, depth = k + j % kByteDepth;
            const bool inside = output < shape.outputs && depth < shape.depth;
            *to = inside ? static_cast<uint8_t>(source[output * inner + tap * shape.depth + depth] + kFilterOffset) : 0;
          }
        }
      }
    }
  }
}

namespace {

// What the zero point of x adds to the sum of an output: the zero point times the sum of the filters.
void AddStarts(const BytePanelState& state, int32_t* starts) {
  const BytePanelShape& shape = state.shape;
  const uint8_t* packed = state.packed;
  for (int64_t group = 0; group < shape.groups; ++group) {
    for (int64_t first = 0; first < shape.outputs; first += kBytePanel) {
      uint32_t sums[kBytePanel] = {};
      for (int64_t i = 0; i < shape.panel_bytes() / (kBytePanel * kByteDepth); ++i) {
        for (int j = 0; j < kBytePanel * kByteDepth; ++j) sums[j / kByteDepth] += *packed++;
      }
      for (int64_t j = 0; j < kBytePanel && first + j < shape.outputs; ++j) {
        const uint32_t offsets = static_cast<uint32_t>(kFilterOffset * shape.taps * shape.depth);
        int32_t* start = starts + group * shape.outputs + first + j;
        *start = static_cast<int32_t>(static_cast<uint32_t>(*start) -
                                      static_cast<uint32_t>(state.x_zero) * (sums[j] - offsets));
      }
    }
  }
}

bool AllZero(const Quant& quant) {
  for (const int64_t zero : quant.zeros) {
    if (zero != 0) return false;
  }
  return true;
}

}  // namespace

Code PrepareBytePanels(PrepareContext& context, BytePanelState* state) {
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
  if (outputs > kMaxPackedElements / (shape.taps * shape.depth) || shape.taps * shape.depth > INT32_MAX / 32768)
    return context.Fail(Code::kUnsupported, "its filters are too large");
  state->x_zero = x.zero;
  state->y_zero = y.zero;
  LATHE_TRY(ReadStoredClip(context, y, &state->low, &state->high));
  const int64_t whole = (outputs + kBytePanel - 1) / kBytePanel * kBytePanel + kBytePanel;
  int32_t* starts = nullptr;
  float* factors = nullptr;
  LATHE_TRY(AllocateArray(context, whole, &starts));
  LATHE_TRY(AllocateArray(context, whole, &factors));
  for (int64_t i = 0; i < outputs; ++i) {
    LATHE_TRY(
        ReadFactor(context, x.scale * w.quant->scales[static_cast<size_t>(scales == 1 ? 0 : i)], y.scale, factors + i));
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
    LATHE_TRY(ReadFactor(context, residual.scale, y.scale, &state->residual_factor));
    state->residual_zero = residual.zero;
  }
  state->packed = w.As<uint8_t>();
  if (w.packing == Packing::kNone) {
    uint8_t* packed = nullptr;
    LATHE_TRY(AllocateArray(context, shape.bytes(), &packed));
    PackBytePanels(shape, w.As<int8_t>(), packed);
    state->packed = packed;
  }
  AddStarts(*state, starts);
  state->starts = starts;
  state->factors = factors;
  return Code::kOk;
}

}  // namespace lathe
