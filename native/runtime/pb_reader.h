// Reads the wire format of protobuf in place: no allocation, no recursion, every length checked.
#ifndef LATHE_RUNTIME_PB_READER_H_
#define LATHE_RUNTIME_PB_READER_H_

#include <stdint.h>
#include <string.h>

#include "native/runtime/span.h"

namespace lathe {

enum class PbWire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

using PbBytes = Span<const uint8_t>;

// Number and wire type of a field in one word, as on the wire. Fields of another wire type than the expected one are
// unknown fields, as in every protobuf reader; comparing tags does that by itself.
constexpr uint32_t PbTag(uint32_t number, PbWire wire) { return number << 3 | static_cast<uint32_t>(wire); }
constexpr uint32_t PbVarint(uint32_t number) { return PbTag(number, PbWire::kVarint); }
constexpr uint32_t PbString(uint32_t number) { return PbTag(number, PbWire::kBytes); }  // and messages
constexpr uint32_t PbFixed32(uint32_t number) { return PbTag(number, PbWire::kFixed32); }

struct PbField {
  uint32_t tag;
  uint64_t scalar;  // varint, fixed64 or fixed32
  PbBytes bytes;    // strings and messages

  int64_t ZigZag() const { return static_cast<int64_t>(scalar >> 1) ^ -static_cast<int64_t>(scalar & 1); }
  float Float() const {
    const uint32_t bits = static_cast<uint32_t>(scalar);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

// The fields of one message, in the order of the file.
class PbReader {
 public:
  explicit PbReader(PbBytes message) : position_(message.data()), end_(message.data() + message.size()) {}

  // False at the end, and at the first field that is malformed; `ok` tells which.
  bool Next(PbField* field);
  bool ok() const { return ok_; }

 private:
  bool Malformed() {
    ok_ = false;
    return false;
  }
  bool Varint(uint64_t* value);
  bool Fixed(int bytes, uint64_t* value);

  const uint8_t* position_;
  const uint8_t* end_;
  bool ok_ = true;
};

// All elements of one repeated field of scalars, packed or not, in order. `field.scalar` holds each.
class PbScalars {
 public:
  // `tag` is that of one element that is not packed.
  PbScalars(PbBytes message, uint32_t tag) : message_(message), tag_(tag) {}

  bool Next(PbField* field);
  bool ok() const { return ok_ && message_.ok(); }

  static size_t Count(PbBytes message, uint32_t tag);

 private:
  PbReader message_;
  PbBytes packed_;
  uint32_t tag_;
  bool ok_ = true;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_PB_READER_H_
