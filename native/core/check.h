// Checks that kernels share. Each returns kOk or fails with a message; type and rank mismatches are kUnsupported, so
// that another kernel of the operator may be tried, everything else that does not fit is kBadModel.
#ifndef LATHE_CORE_CHECK_H_
#define LATHE_CORE_CHECK_H_

#include <stdint.h>
#include <string.h>

#include "native/core/kernel.h"

namespace lathe {
namespace {

// Window sizes, strides, pads and spatial extents stay below this, so that products of two of them and their sums
// stay within int64_t.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

// Elements of an operand that is packed into scratch memory; keeps byte counts of expanded copies within int64_t.
constexpr int64_t kMaxPackedElements = int64_t{1} << 40;

inline bool Equals(Span<const char> text, const char* word) {
  return text.size() == strlen(word) && memcmp(text.data(), word, text.size()) == 0;
}

inline Code CheckArity(const PrepareContext& context, int least, int most, int outputs) {
  if (context.input_count() < least) return context.Fail(Code::kBadModel, "has too few inputs");
  if (context.input_count() > most) return context.Fail(Code::kBadModel, "has too many inputs");
  if (context.output_count() != outputs) return context.Fail(Code::kBadModel, "has the wrong number of outputs");
  return Code::kOk;
}

// All inputs and outputs have this element type.
inline Code CheckAllTypes(const PrepareContext& context, DType dtype) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input(i).dtype != dtype) return context.Fail(Code::kUnsupported, "this kernel has other input types");
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.output(i).dtype != dtype) return context.Fail(Code::kUnsupported, "this kernel has other output types");
  }
  return Code::kOk;
}

// Inputs and outputs have one element type among themselves, whatever it is.
inline Code CheckSameTypes(const PrepareContext& context) {
  const DType dtype = context.input(0).dtype;
  if (SizeOf(dtype) == 0) return context.Fail(Code::kBadModel, "its input has no element type");
  for (int i = 1; i < context.input_count(); ++i) {
    if (context.input(i).dtype != dtype) return context.Fail(Code::kBadModel, "its inputs differ in element type");
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.output(i).dtype != dtype) return context.Fail(Code::kBadModel, "input and output differ in type");
  }
  return Code::kOk;
}

inline Code CheckRank(const Reporter& reporter, const Tensor& tensor, int rank, const char* what) {
  if (tensor.shape.rank == rank) return Code::kOk;
  return reporter.Fail(Code::kBadModel, "%s has the wrong rank", what);
}

// Output `index` has exactly this shape.
inline Code CheckShape(const PlanContext& context, int index, const Shape& expected) {
  if (context.output(index).shape == expected) return Code::kOk;
  return context.Fail(Code::kBadModel, "its output has another shape than its inputs and attributes give");
}

// Reads `count` integers of an attribute, each within [low, high].
inline Code ReadInts(const PrepareContext& context, const char* name, int count, int64_t low, int64_t high,
                     int64_t* values) {
  Span<const int64_t> list;
  LATHE_TRY(context.Ints(name, &list));
  if (list.size() != static_cast<size_t>(count)) {
    return context.Fail(Code::kBadModel, "attribute '%s' has the wrong number of elements", name);
  }
  for (int i = 0; i < count; ++i) {
    if (list[i] < low || list[i] > high) return context.Fail(Code::kBadModel, "attribute '%s' is out of range", name);
    values[i] = list[i];
  }
  return Code::kOk;
}

inline Code ReadInt(const PrepareContext& context, const char* name, int64_t low, int64_t high, int64_t* value) {
  LATHE_TRY(context.Int(name, value));
  if (*value >= low && *value <= high) return Code::kOk;
  return context.Fail(Code::kBadModel, "attribute '%s' is out of range", name);
}

inline Code ReadBool(const PrepareContext& context, const char* name, bool* value) {
  int64_t number = 0;
  LATHE_TRY(ReadInt(context, name, 0, 1, &number));
  *value = number != 0;
  return Code::kOk;
}

// Reads a string attribute that is one of `words` and gives its position among them.
template <int count>
inline Code ReadChoice(const PrepareContext& context, const char* name, const char* const (&words)[count],
                       int* choice) {
  Span<const char> text;
  LATHE_TRY(context.String(name, &text));
  for (int i = 0; i < count; ++i) {
    if (Equals(text, words[i])) {
      *choice = i;
      return Code::kOk;
    }
  }
  return context.Fail(Code::kBadModel, "attribute '%s' is a word that this kernel does not know", name);
}

// Byte counts are int64_t everywhere; size_t may be smaller.
inline Code RequestScratch(PlanContext& context, int64_t bytes) {
  if (bytes < 0 || bytes > static_cast<int64_t>(PTRDIFF_MAX)) {
    return context.Fail(Code::kOutOfMemory, "needs more scratch memory than this machine can address");
  }
  if (bytes > 0) context.RequestScratch(static_cast<size_t>(bytes));
  return Code::kOk;
}

template <typename T>
inline Code AllocateArray(PrepareContext& context, int64_t count, T** array) {
  if (count >= 0 && count <= static_cast<int64_t>(PTRDIFF_MAX / sizeof(T))) {
    *array = static_cast<T*>(context.Allocate(static_cast<size_t>(count) * sizeof(T)));
    if (*array != nullptr) return Code::kOk;
  }
  return context.Fail(Code::kOutOfMemory, "no memory for packed constants");
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_CHECK_H_
