#include "native/runtime/block_weights.h"

#include "native/runtime/half.h"

namespace lathe {

namespace {

// The message `Scaled` of the container. The constant is [outer, depth, width]; `block` numbers along the depth that
// are in one column have one scale, and scales are [outer, blocks, width].
struct Scaled {
  uint64_t offset = 0;
  DType storage = DType::kNone;
  uint64_t depth = 0;
  uint64_t width = 0;
  uint64_t block = 0;
};

Code ReadScaled(const Value& value, const ErrorSink& errors, Scaled* scaled) {
  PbReader reader(value.scaled);
  PbField field;
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(1)) scaled->offset = field.scalar;
    if (field.tag == PbVarint(2)) scaled->storage = DTypeFromCode(field.scalar);
    if (field.tag == PbVarint(3)) scaled->depth = field.scalar;
    if (field.tag == PbVarint(4)) scaled->width = field.scalar;
    if (field.tag == PbVarint(5)) scaled->block = field.scalar;
  }
  return reader.ok() ? Code::kOk : errors.BadModel("the scales of constant '%s' are cut off or malformed", value.name);
}

// How many scales there are; 0 where depth, width and block do not fit the `count` numbers of the constant. No step
// can overflow: each of the three is at most what `count` leaves of it.
uint64_t ScaleCount(const Scaled& scaled, uint64_t count) {
  if (count == 0 || scaled.width == 0 || scaled.width > count || scaled.depth == 0 ||
      scaled.depth > count / scaled.width || scaled.block == 0 || scaled.block > scaled.depth)
    return 0;
  const uint64_t slice = scaled.depth * scaled.width;
  if (count % slice != 0) return 0;
  const uint64_t blocks = (scaled.depth - 1) / scaled.block + 1;
  return count / slice * blocks * scaled.width;
}

// Scales of this many columns are read at a time.
constexpr uint64_t kColumns = 64;

void ReadScales(const uint8_t* stored, DType storage, uint64_t count, float* scales) {
  for (uint64_t i = 0; i < count; ++i) {
    if (storage == DType::kF32) {
      memcpy(&scales[i], stored + 4 * i, sizeof(float));
    } else {
      uint16_t half;
      memcpy(&half, stored + 2 * i, sizeof(half));
      scales[i] = FloatFromF16(half);
    }
  }
}

// `count` numbers from the one at `first` on; number i has the scale `scales[i * step]`.
void Multiply(const uint8_t* stored, DType storage, uint64_t first, uint64_t count, const float* scales, uint64_t step,
              float* expanded) {
  for (uint64_t i = 0; i < count; ++i, scales += step) {
    int32_t number;
    if (storage == DType::kS8) {
      number = static_cast<int8_t>(stored[first + i]);
    } else if (storage == DType::kS16) {
      int16_t wide;
      memcpy(&wide, stored + 2 * (first + i), sizeof(wide));
      number = wide;
    } else {  // two of 4 bits in a byte, the first one in the low half
      const int32_t bits = stored[(first + i) / 2] >> ((first + i) % 2 * 4) & 15;
      number = (bits ^ 8) - 8;
    }
    expanded[first + i] = static_cast<float>(number) * *scales;
  }
}

}  // namespace

Code ExpandScaled(const Value& value, lathe_bytes data, const ErrorSink& errors, Span<float> expanded,
                  StoredNumbers* found) {
  Scaled scaled;
  LATHE_TRY(ReadScaled(value, errors, &scaled));
  const DType storage = value.storage;
  const bool known = (storage == DType::kS8 || storage == DType::kS16 || storage == DType::kU8) &&
                     (scaled.storage == DType::kF32 || scaled.storage == DType::kF16);
  const uint64_t count = expanded.size(), scale_count = ScaleCount(scaled, count);
  if (!known || scale_count == 0) return errors.BadModel("the scales of constant '%s' do not fit it", value.name);
  const uint64_t size = SizeOf(scaled.storage);
  if (scaled.offset % kAlignment != 0 || scaled.offset > data.size || scale_count > (data.size - scaled.offset) / size)
    return errors.BadModel("the scales of constant '%s' lie outside of the data file or are not aligned", value.name);

  const auto* stored = static_cast<const uint8_t*>(data.data) + value.offset;
  const uint8_t* scales = static_cast<const uint8_t*>(data.data) + scaled.offset;
  if (found != nullptr) {
    const auto depth = static_cast<int64_t>(scaled.depth), width = static_cast<int64_t>(scaled.width);
    *found = {storage, stored, scales, scaled.storage, depth, width, static_cast<int64_t>(scaled.block)};
    return Code::kOk;
  }
  float row[kColumns];
  for (uint64_t slice = 0; slice < count; slice += scaled.depth * scaled.width) {
    for (uint64_t begin = 0; begin < scaled.depth; begin += scaled.block) {
      const uint64_t left = scaled.depth - begin;
      const uint64_t rows = left < scaled.block ? left : scaled.block;
      const uint64_t first = slice + begin * scaled.width;
      for (uint64_t column = 0; column < scaled.width; column += kColumns) {
        const uint64_t more = scaled.width - column;
        const uint64_t columns = more < kColumns ? more : kColumns;
        ReadScales(scales, scaled.storage, columns, row);
        scales += columns * size;
        if (scaled.width == 1) {
          Multiply(stored, storage, first, rows, row, 0, expanded.data());
          continue;
        }
        for (uint64_t i = 0; i < rows; ++i)
          Multiply(stored, storage, first + i * scaled.width + column, columns, row, 1, expanded.data());
      }
    }
  }
  return Code::kOk;
}

}  // namespace lathe
