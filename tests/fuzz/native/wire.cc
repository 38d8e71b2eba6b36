#include "tests/fuzz/native/wire.h"

namespace lathe_fuzz {
namespace {

constexpr int kDeepest = 12;
enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

bool ReadVarint(const std::string& bytes, size_t* at, uint64_t* number) {
  *number = 0;
  for (uint32_t shift = 0; shift < 64 && *at < bytes.size(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(bytes[(*at)++]);
    *number |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

bool ReadFixed(const std::string& bytes, size_t size, size_t* at, uint64_t* number) {
  if (bytes.size() - *at < size) return false;
  *number = 0;
  for (size_t i = 0; i < size; ++i) *number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[(*at)++])) << (8 * i);
  return true;
}

void WriteVarint(uint64_t number, std::string* out) {
  for (; number > 127; number >>= 7) out->push_back(static_cast<char>((number & 127) | 128));
  out->push_back(static_cast<char>(number));
}

void WriteFixed(uint64_t number, size_t size, std::string* out) {
  for (size_t i = 0; i < size; ++i) out->push_back(static_cast<char>(number >> (8 * i)));
}

bool ReadBytes(const std::string& bytes, size_t* at, int depth, Field* field) {
  uint64_t size = 0;
  if (!ReadVarint(bytes, at, &size) || bytes.size() - *at < size) return false;
  field->bytes = bytes.substr(*at, size);
  *at += size;
  if (depth < kDeepest && Parse(field->bytes, &field->message, depth + 1)) return true;
  field->message.clear();
  return true;
}

}  // namespace

bool Parse(const std::string& bytes, std::vector<Field>* fields, int depth) {
  for (size_t at = 0; at < bytes.size();) {
    Field field;
    uint64_t tag = 0;
    if (!ReadVarint(bytes, &at, &tag) || tag >> 3 == 0) return false;
    field.number = tag >> 3;
    field.wire = tag & 7;
    bool good = false;
    if (field.wire == kVarint) good = ReadVarint(bytes, &at, &field.scalar);
    if (field.wire == kFixed64) good = ReadFixed(bytes, 8, &at, &field.scalar);
    if (field.wire == kFixed32) good = ReadFixed(bytes, 4, &at, &field.scalar);
    if (field.wire == kBytes) good = ReadBytes(bytes, &at, depth, &field);
    if (!good) return false;
    fields->push_back(field);
  }
  return true;
}

std::string Write(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    WriteVarint(field.number << 3 | field.wire, &out);
    if (field.wire == kVarint) WriteVarint(field.scalar, &out);
    if (field.wire == kFixed64) WriteFixed(field.scalar, 8, &out);
    if (field.wire == kFixed32) WriteFixed(field.scalar, 4, &out);
    if (field.wire == kBytes) {
      const std::string bytes = field.message.empty() ? field.bytes : Write(field.message);
      WriteVarint(bytes.size(), &out);
      out += bytes;
    }
  }
  return out;
}

}  // namespace lathe_fuzz
