// Values of the model: types, dimensions, constants, quantisation.
#include <string.h>

#include "native/runtime/model_reader.h"

namespace lathe {

Code ModelReader::ReadValue(PbBytes message, Value* value) {
  PbReader reader(message);
  PbField field;
  PbBytes quant;
  uint64_t constant_size = 0;
  value->name = "";
  LATHE_TRY((ReadList<const char*, &ModelReader::ReadString>(message, 2, kMaxSourceNames, "a list of source names",
                                                             &value->source_names)));
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field.bytes, &value->name));
    if (field.tag == PbVarint(3)) value->dtype = DTypeFromCode(field.scalar);
    if (field.tag == PbString(5)) quant = field.bytes;
    if (field.tag == PbString(6)) LATHE_TRY(ReadConstant(field.bytes, value, &constant_size));
  }
  if (!reader.ok()) return Malformed("a value");
  if (value->dtype == DType::kNone)
    return BadModel("value '%s' has no element type that this library knows", value->name);
  LATHE_TRY(ReadDims(message, 4, value->name, kMaxRank, &value->dims));
  if (!quant.empty()) LATHE_TRY(ReadQuant(quant, value));
  return value->constant ? CheckConstant(*value, constant_size) : Code::kOk;
}

Code ModelReader::ReadConstant(PbBytes message, Value* value, uint64_t* size) {
  PbReader reader(message);
  PbField field;
  value->constant = true;
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(1)) value->offset = field.scalar;
    if (field.tag == PbVarint(2)) *size = field.scalar;
    if (field.tag == PbVarint(3)) value->storage = DTypeFromCode(field.scalar);
    if (field.tag == PbVarint(4)) {
      if (field.scalar > static_cast<uint64_t>(kLastPacking))
        return BadModel("a constant is packed in a way that this library does not know");
      value->packing = static_cast<Packing>(field.scalar);
    }
    if (field.tag == PbString(5)) value->scaled = field.bytes;
  }
  return reader.ok() ? Code::kOk : Malformed("a constant");
}

Code ModelReader::CheckConstant(const Value& value, uint64_t size) {
  const bool scaled = !value.scaled.empty();
  const bool narrow = scaled || value.storage == DType::kF16 || value.storage == DType::kBF16;
  const bool as_it_is = value.storage == value.dtype && !scaled;
  if (!as_it_is && !(narrow && value.dtype == DType::kF32))
    return BadModel("constant '%s' is stored as a type that is not its own (only f32 may be stored as f16 or bf16)",
                    value.name);
  for (const DimSpec& dim : value.dims) {
    if (dim.expr >= 0) return BadModel("constant '%s' has a dimension that is not a number", value.name);
  }
  Shape shape;
  if (!EvaluateShape(*model_, value.dims, value.dtype, {}, &shape))
    return BadModel("constant '%s' is larger than memory can be", value.name);
  const uint64_t count = static_cast<uint64_t>(shape.Count());
  const bool nibbles = scaled && value.storage == DType::kU8;  // two numbers in a byte
  const uint64_t expected = nibbles ? (count + 1) / 2 : count * SizeOf(value.storage);
  if (size != expected)
    return BadModel("constant '%s' has %llu bytes, its type and shape need %llu", value.name,
                    static_cast<unsigned long long>(size), static_cast<unsigned long long>(expected));
  if (value.offset % kAlignment != 0) return BadModel("constant '%s' is not aligned to %zu", value.name, kAlignment);
  if (size > model_->data_size || value.offset > model_->data_size - size)
    return BadModel("constant '%s' lies outside of the %llu bytes of the data file", value.name,
                    static_cast<unsigned long long>(model_->data_size));
  return Code::kOk;
}

Code ModelReader::ReadQuant(PbBytes message, Value* value) {
  Span<Quant> made;
  Span<float> scales;
  Span<int64_t> zeros;
  LATHE_TRY(NewArray(1, &made));
  LATHE_TRY(ReadScalars(message, PbFixed32(1), &scales));
  LATHE_TRY(ReadScalars(message, PbVarint(2), &zeros));
  Quant& quant = made[0];
  quant = {scales, zeros, 0, 0};
  value->quant = &quant;
  PbReader reader(message);
  PbField field;
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(3)) quant.axis = field.ZigZag();
    if (field.tag == PbVarint(4)) quant.bits = static_cast<int64_t>(field.scalar);
  }
  if (!reader.ok()) return Malformed("a quantisation");
  bool fits = !scales.empty() && quant.bits >= 1 && quant.bits <= 16 && quant.axis >= -1 &&
              scales.size() == zeros.size() && quant.axis < static_cast<int64_t>(value->dims.size());
  if (fits && value->packing == Packing::kNone) {  // what is packed has other axes: its kernel counts
    const int64_t wanted = quant.axis < 0 ? 1 : value->dims[static_cast<size_t>(quant.axis)].size;
    fits = static_cast<int64_t>(scales.size()) == wanted;
  }
  for (const float scale : scales) fits = fits && scale > 0 && scale <= 3.4028235e38f;  // false for NaN, too
  return fits ? Code::kOk : BadModel("the quantisation of value '%s' does not fit it", value->name);
}

Code ModelReader::ReadDims(PbBytes message, uint32_t number, const char* owner, size_t limit, Span<DimSpec>* dims) {
  owner_ = owner;
  return ReadList<DimSpec, &ModelReader::ReadDim>(message, number, limit, "a list of dimensions", dims);
}

Code ModelReader::ReadDim(PbBytes message, DimSpec* dim) {
  PbReader reader(message);
  PbField field;
  *dim = {0, -1};
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(1)) {
      if (field.scalar > kMaxBytes) return BadModel("a dimension of '%s' is larger than memory can be", owner_);
      *dim = {static_cast<int64_t>(field.scalar), -1};
    }
    if (field.tag == PbVarint(2)) {
      if (field.scalar >= model_->exprs.size()) return BadModel("a dimension of '%s' names no expression", owner_);
      *dim = {0, static_cast<int32_t>(field.scalar)};
    }
  }
  return reader.ok() ? Code::kOk : Malformed("a dimension");
}

}  // namespace lathe
