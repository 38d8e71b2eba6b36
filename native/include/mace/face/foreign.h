// Recognises the model files of MACE, so that they can be refused by name.
#ifndef MACE_FACE_FOREIGN_H_
#define MACE_FACE_FOREIGN_H_

#include <cstddef>
#include <cstdint>

namespace mace {
namespace face {

// Reads a number of the protobuf format; false where there is none.
inline bool ReadNumber(const unsigned char** at, const unsigned char* end, uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 64 && *at < end; shift += 7) {
    const unsigned char byte = *(*at)++;
    *number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Graphs of all versions of MACE name their inputs and outputs in the fields 100 and 101; Lathe's have no such fields.
inline bool IsOfMace(const void* graph, size_t size) {
  const unsigned char* at = static_cast<const unsigned char*>(graph);
  const unsigned char* const end = at + size;
  bool inputs = false, outputs = false;
  while (at < end) {
    uint64_t tag = 0, number = 0;
    if (!ReadNumber(&at, end, &tag)) return false;
    const uint64_t kind = tag & 7;
    if (kind == 0 || kind == 2) {
      if (!ReadNumber(&at, end, &number)) return false;
    } else if (kind == 1 || kind == 5) {
      number = kind == 1 ? 8 : 4;
    } else {
      return false;
    }
    if (kind != 0) {
      if (number > static_cast<uint64_t>(end - at)) return false;
      at += number;
    }
    inputs = inputs || tag == (100 << 3 | 2);
    outputs = outputs || tag == (101 << 3 | 2);
  }
  return inputs && outputs;
}

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_FOREIGN_H_
