#include "native/opencl/read.h"

#include <string.h>

namespace lathe {
namespace opencl {

Code CheckPixels(Node& node, int inputs, int outputs) {
  if (node.input_count() != inputs || node.output_count() != outputs) {
    return node.Fail(Code::kBadModel, "has another number of inputs or outputs");
  }
  for (int i = 0; i < inputs + outputs; ++i) {
    const DeviceTensor& tensor = i < inputs ? node.input(i) : node.output(i - inputs);
    if (tensor.home == Home::kNumbers) return node.Fail(Code::kUnsupported, "one of its tensors holds no floats");
  }
  return Code::kOk;
}

namespace {

Code Checked(const Node& node, const char* name, int64_t number, int64_t least, int64_t most, int32_t* value) {
  if (number < least || number > most) return node.Fail(Code::kBadModel, "'%s' is out of range", name);
  *value = static_cast<int32_t>(number);
  return Code::kOk;
}

}  // namespace

Code ReadInt(const Node& node, const char* name, int64_t least, int64_t most, int32_t* value) {
  int64_t number = 0;
  LATHE_TRY(node.Int(name, &number));
  return Checked(node, name, number, least, most, value);
}

Code ReadInts(const Node& node, const char* name, int64_t least, int64_t most, int count, int32_t* values) {
  Span<const int64_t> numbers;
  LATHE_TRY(node.Ints(name, &numbers));
  if (numbers.size() != static_cast<size_t>(count)) {
    return node.Fail(Code::kBadModel, "'%s' does not have %d numbers", name, count);
  }
  for (int i = 0; i < count; ++i)
    LATHE_TRY(Checked(node, name, numbers[static_cast<size_t>(i)], least, most, values + i));
  return Code::kOk;
}

Code ReadChoice(const Node& node, const char* name, const char* words, int32_t* choice) {
  Span<const char> text;
  LATHE_TRY(node.String(name, &text));
  *choice = 0;
  for (;; ++*choice) {
    const char* const end = strchr(words, ' ');
    const size_t length = end != nullptr ? static_cast<size_t>(end - words) : strlen(words);
    if (length == text.size() && memcmp(words, text.data(), length) == 0) return Code::kOk;
    if (end == nullptr) return node.Fail(Code::kBadModel, "'%s' is a word that is not known", name);
    words = end + 1;
  }
}

}  // namespace opencl
}  // namespace lathe
