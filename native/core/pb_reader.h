// Reads the wire format of protobuf in place: no allocation, no recursion, every length checked.
#ifndef LATHE_CORE_PB_READER_H_
#define LATHE_CORE_PB_READER_H_

#include <stdint.h>
#include <string.h>

#include "native/core/span.h"

namespace lathe {

enum class PbWire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

using PbBytes = Span<const uint8_t>;

struct PbField {
  uint32_t number;
  PbWire wire;
  uint64_t scalar;  // varint, fixed64 or fixed32
  PbBytes bytes;    // kBytes only

  // Fields of another wire type are unknown fields, as in every protobuf reader.
  bool Is(uint32_t other, PbWire other_wire) const { return number == other && wire == other_wire; }
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
  // `wire` is that of an element.
  PbScalars(PbBytes message, uint32_t number, PbWire wire) : message_(message), number_(number), wire_(wire) {}

  bool Next(PbField* field);
  bool ok() const { return ok_ && message_.ok(); }

  static size_t Count(PbBytes message, uint32_t number, PbWire wire);

 private:
  PbReader message_;
  PbBytes packed_;
  uint32_t number_;
  PbWire wire_;
  bool ok_ = true;
};

}  // namespace lathe

#endif  // LATHE_CORE_PB_READER_H_
