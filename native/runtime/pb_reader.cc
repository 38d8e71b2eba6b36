#include "native/runtime/pb_reader.h"

namespace lathe {

namespace {

constexpr int kMaxVarintBytes = 10;

// The number of bytes read, 0 where the varint is cut off or longer than 64 bits.
size_t DecodeVarint(const uint8_t* position, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (int i = 0; i < kMaxVarintBytes && position + i < end; ++i) {
    const uint8_t byte = position[i];
    if (i == kMaxVarintBytes - 1 && byte > 1) return 0;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = result;
      return static_cast<size_t>(i) + 1;
    }
  }
  return 0;
}

// Fixed numbers are little-endian on the wire, whatever the machine.
uint64_t DecodeFixed(const uint8_t* position, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(position[i]) << (8 * i);
  return value;
}

}  // namespace

bool PbReader::Varint(uint64_t* value) {
  const size_t read = DecodeVarint(position_, end_, value);
  position_ += read;
  return read != 0;
}

bool PbReader::Fixed(int bytes, uint64_t* value) {
  if (end_ - position_ < bytes) return false;
  *value = DecodeFixed(position_, bytes);
  position_ += bytes;
  return true;
}

bool PbReader::Next(PbField* field) {
  if (!ok_ || position_ == end_) return false;
  uint64_t tag = 0;
  if (!Varint(&tag) || tag > UINT32_MAX || (tag >> 3) == 0) return Malformed();
  field->tag = static_cast<uint32_t>(tag);
  field->scalar = 0;
  field->bytes = PbBytes();
  switch (static_cast<PbWire>(tag & 7)) {
    case PbWire::kVarint:
      return Varint(&field->scalar) || Malformed();
    case PbWire::kFixed64:
      return Fixed(8, &field->scalar) || Malformed();
    case PbWire::kFixed32:
      return Fixed(4, &field->scalar) || Malformed();
    case PbWire::kBytes: {
      uint64_t size = 0;
      if (!Varint(&size) || size > static_cast<uint64_t>(end_ - position_)) return Malformed();
      field->bytes = PbBytes(position_, static_cast<size_t>(size));
      position_ += size;
      return true;
    }
  }
  return Malformed();  // groups, and numbers that mean nothing
}

bool PbScalars::Next(PbField* field) {
  while (packed_.empty()) {
    if (!ok_ || !message_.Next(field)) return false;
    if (field->tag == tag_) return true;
    if (field->tag == ((tag_ & ~7u) | static_cast<uint32_t>(PbWire::kBytes))) packed_ = field->bytes;
  }
  size_t read = 0;
  if ((tag_ & 7) == static_cast<uint32_t>(PbWire::kVarint)) {
    read = DecodeVarint(packed_.data(), packed_.end(), &field->scalar);
  } else if (packed_.size() >= 4) {
    field->scalar = DecodeFixed(packed_.data(), 4);
    read = 4;
  }
  ok_ = read != 0;
  packed_ = packed_.subspan(read, packed_.size() - read);
  return ok_;
}

size_t PbScalars::Count(PbBytes message, uint32_t tag) {
  PbScalars scalars(message, tag);
  PbField field;
  size_t count = 0;
  while (scalars.Next(&field)) ++count;
  return count;
}

}  // namespace lathe
