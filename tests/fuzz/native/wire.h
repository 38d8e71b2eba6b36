// A message of protocol buffers taken apart without its schema, so that it can be changed field by field.
#ifndef LATHE_TESTS_FUZZ_WIRE_H_
#define LATHE_TESTS_FUZZ_WIRE_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace lathe_fuzz {

struct Field {
  uint64_t number = 0;
  uint32_t wire = 0;
  uint64_t scalar = 0;
  std::string bytes;           // of wire type 2, where they are no message
  std::vector<Field> message;  // of wire type 2, where they are one
};

// The fields, where all of the bytes are fields.
bool Parse(const std::string& bytes, std::vector<Field>* fields, int depth = 0);
std::string Write(const std::vector<Field>& fields);

}  // namespace lathe_fuzz

#endif  // LATHE_TESTS_FUZZ_WIRE_H_
