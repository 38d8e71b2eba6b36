#include "native/tests/container_builder.h"

#include <string.h>

namespace lathe_test {

void PbWriter::Raw(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

PbWriter& PbWriter::Varint(uint32_t number, uint64_t value) {
  Raw(number << 3);
  Raw(value);
  return *this;
}

PbWriter& PbWriter::ZigZag(uint32_t number, int64_t value) {
  return Varint(number, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

PbWriter& PbWriter::Bytes(uint32_t number, const std::string& bytes) {
  Raw(number << 3 | 2);
  Raw(bytes.size());
  bytes_ += bytes;
  return *this;
}

PbWriter& PbWriter::Float(uint32_t number, float value) {
  Raw(number << 3 | 5);
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<char>(bits >> (8 * i)));
  return *this;
}

PbWriter& PbWriter::Packed(uint32_t number, const std::vector<uint32_t>& values) {
  PbWriter packed;
  for (const uint32_t value : values) packed.Raw(value);
  return Bytes(number, packed.bytes_);
}

PbWriter& PbWriter::PackedZigZag(uint32_t number, const std::vector<int64_t>& values) {
  PbWriter packed;
  for (const int64_t value : values)
    packed.Raw((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  return Bytes(number, packed.bytes_);
}

std::string DimArg::Encode() const {
  if (expr >= 0) return PbWriter().Varint(2, static_cast<uint64_t>(expr)).bytes();
  return PbWriter().Varint(1, static_cast<uint64_t>(size)).bytes();
}

std::string FloatAttr(const std::string& name, float value) {
  return PbWriter().Bytes(1, name).Float(3, value).bytes();
}
std::string IntAttr(const std::string& name, int64_t value) {
  return PbWriter().Bytes(1, name).ZigZag(2, value).bytes();
}
std::string StringAttr(const std::string& name, const std::string& value) {
  return PbWriter().Bytes(1, name).Bytes(4, value).bytes();
}
std::string IntsAttr(const std::string& name, const std::vector<int64_t>& values) {
  return PbWriter().Bytes(1, name).Bytes(5, PbWriter().PackedZigZag(1, values).bytes()).bytes();
}
std::string DimsAttr(const std::string& name, const std::vector<DimArg>& dims) {
  PbWriter list;
  for (const DimArg& dim : dims) list.Bytes(1, dim.Encode());
  return PbWriter().Bytes(1, name).Bytes(8, list.bytes()).bytes();
}

uint32_t ModelBuilder::Symbol(const std::string& name, uint32_t low, uint32_t high) {
  symbols_and_exprs_.Bytes(1, PbWriter().Bytes(1, name).Varint(2, low).Varint(3, high).bytes());
  return symbol_count_++;
}

DimArg ModelBuilder::Expr(const std::vector<int64_t>& code) {
  symbols_and_exprs_.Bytes(2, PbWriter().PackedZigZag(1, code).bytes());
  return DimArg::Expr(expr_count_++);
}

uint32_t ModelBuilder::Value(const std::string& name, const std::vector<DimArg>& dims, uint32_t dtype,
                             const std::vector<std::string>& source_names) {
  PbWriter value;
  value.Bytes(1, name);
  for (const std::string& source : source_names) value.Bytes(2, source);
  value.Varint(3, dtype);
  for (const DimArg& dim : dims) value.Bytes(4, dim.Encode());
  values_.Bytes(3, value.bytes());
  return value_count_++;
}

uint32_t ModelBuilder::Constant(const std::string& name, const std::vector<DimArg>& dims, const std::string& bytes,
                                uint32_t dtype, uint32_t storage, uint32_t packing) {
  data_.resize((data_.size() + 63) / 64 * 64);
  PbWriter value;
  value.Bytes(1, name).Varint(3, dtype);
  for (const DimArg& dim : dims) value.Bytes(4, dim.Encode());
  PbWriter constant;
  constant.Varint(1, data_.size()).Varint(2, bytes.size()).Varint(3, storage);
  if (packing != 0) constant.Varint(4, packing);
  value.Bytes(6, constant.bytes());
  values_.Bytes(3, value.bytes());
  data_ += bytes;
  return value_count_++;
}

uint32_t ModelBuilder::Scaled(const std::string& name, const std::vector<DimArg>& dims, const std::string& bytes,
                              uint32_t storage, const std::string& scales, const ScaledArg& scaled, uint32_t dtype) {
  const size_t offset = (data_.size() + 63) / 64 * 64;
  const size_t scales_offset = (offset + bytes.size() + 63) / 64 * 64;
  data_.resize(offset);
  data_ += bytes;
  data_.resize(scales_offset);
  data_ += scales;
  PbWriter value, constant, message;
  value.Bytes(1, name).Varint(3, dtype);
  for (const DimArg& dim : dims) value.Bytes(4, dim.Encode());
  message.Varint(1, scaled.offset < 0 ? scales_offset : static_cast<uint64_t>(scaled.offset)).Varint(2, scaled.storage);
  message.Varint(3, scaled.depth).Varint(4, scaled.width).Varint(5, scaled.block);
  constant.Varint(1, offset).Varint(2, bytes.size()).Varint(3, storage).Bytes(5, message.bytes());
  value.Bytes(6, constant.bytes());
  values_.Bytes(3, value.bytes());
  return value_count_++;
}

uint32_t ModelBuilder::Floats(const std::string& name, const std::vector<DimArg>& dims,
                              const std::vector<float>& values) {
  return Constant(name, dims, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

uint32_t ModelBuilder::Input(uint32_t value, const std::string& format) {
  inputs_.push_back(value);
  formats_.Bytes(7, format);
  return value;
}

void ModelBuilder::Output(uint32_t value, const std::string& format) {
  outputs_.push_back(value);
  formats_.Bytes(8, format);
}

std::string NodeBytes(const std::string& op, const std::string& name, const std::vector<uint32_t>& inputs,
                      const std::vector<uint32_t>& outputs, const std::vector<std::string>& attrs,
                      const std::vector<std::string>& regions) {
  PbWriter node;
  node.Bytes(1, op).Bytes(2, name).Packed(3, inputs).Packed(4, outputs);
  for (const std::string& attr : attrs) node.Bytes(5, attr);
  for (const std::string& region : regions) node.Bytes(6, region);
  return node.bytes();
}

std::string RegionBytes(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs,
                        const std::vector<std::string>& nodes) {
  PbWriter region;
  region.Packed(1, inputs).Packed(2, outputs);
  for (const std::string& node : nodes) region.Bytes(3, node);
  return region.bytes();
}

void ModelBuilder::Node(const std::string& op, const std::string& name, const std::vector<uint32_t>& inputs,
                        const std::vector<uint32_t>& outputs, const std::vector<std::string>& attrs,
                        const std::vector<std::string>& regions) {
  nodes_.Bytes(3, NodeBytes(op, name, inputs, outputs, attrs, regions));
}

void ModelBuilder::Kernel(const std::string& name) { Kernels({name}); }

void ModelBuilder::Kernels(const std::vector<std::string>& names) {
  planned_ = true;
  PbWriter node;
  for (const std::string& name : names) node.Bytes(1, name);
  plan_.Bytes(2, node.bytes());
}

void ModelBuilder::Place(uint32_t value, uint64_t offset, uint64_t size) {
  planned_ = true;
  plan_.Bytes(3, PbWriter().Varint(1, value).Varint(2, offset).Varint(3, size).bytes());
}

std::string ModelBuilder::Model() const {
  PbWriter region;
  region.Packed(1, inputs_).Packed(2, outputs_);
  PbWriter graph;
  const std::string body = region.bytes() + nodes_.bytes();
  graph.Bytes(4, body);
  PbWriter model;
  model.Varint(1, version).Bytes(2, name_);
  model.Bytes(3, symbols_and_exprs_.bytes() + values_.bytes() + graph.bytes());
  model.Varint(4, data_size < 0 ? data_.size() : static_cast<uint64_t>(data_size));
  if (planned_) {
    PbWriter rest;
    rest.Varint(4, arena_size);
    model.Bytes(6, PbWriter().Bytes(1, "test").bytes() + plan_.bytes() + rest.bytes());
  }
  return model.bytes() + formats_.bytes();
}

}  // namespace lathe_test
