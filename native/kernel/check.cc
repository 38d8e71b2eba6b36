#include "native/kernel/check.h"

namespace lathe {

bool Equals(Span<const char> text, const char* word) {
  return text.size() == strlen(word) && memcmp(text.data(), word, text.size()) == 0;
}

Code CheckArity(const PrepareContext& context, int least, int most, int outputs) {
  if (context.input_count() < least) return context.Fail(Code::kBadModel, "has too few inputs");
  if (context.input_count() > most) return context.Fail(Code::kBadModel, "has too many inputs");
  if (context.output_count() != outputs) return context.Fail(Code::kBadModel, "has the wrong number of outputs");
  return Code::kOk;
}

Code CheckAllTypes(const PrepareContext& context, DType dtype) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input(i).dtype != dtype) return context.Fail(Code::kUnsupported, "this kernel has other input types");
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.output(i).dtype != dtype) return context.Fail(Code::kUnsupported, "this kernel has other output types");
  }
  return Code::kOk;
}

Code CheckSameTypes(const PrepareContext& context) {
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

Code CheckRank(const Reporter& reporter, const Tensor& tensor, int rank, const char* what) {
  if (tensor.shape.rank == rank) return Code::kOk;
  return reporter.Fail(Code::kBadModel, "%s has the wrong rank", what);
}

Code CheckShape(const PlanContext& context, int index, const Shape& expected) {
  if (context.output(index).shape == expected) return Code::kOk;
  return context.Fail(Code::kBadModel, "its output has another shape than its inputs and attributes give");
}

Code ReadInts(const PrepareContext& context, const char* name, int count, int64_t low, int64_t high, int64_t* values) {
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

Code ReadInt(const PrepareContext& context, const char* name, int64_t low, int64_t high, int64_t* value) {
  LATHE_TRY(context.Int(name, value));
  if (*value >= low && *value <= high) return Code::kOk;
  return context.Fail(Code::kBadModel, "attribute '%s' is out of range", name);
}

Code ReadBool(const PrepareContext& context, const char* name, bool* value) {
  int64_t number = 0;
  LATHE_TRY(ReadInt(context, name, 0, 1, &number));
  *value = number != 0;
  return Code::kOk;
}

Code ReadChoice(const PrepareContext& context, const char* name, Span<const char* const> words, int* choice) {
  Span<const char> text;
  LATHE_TRY(context.String(name, &text));
  for (size_t i = 0; i < words.size(); ++i) {
    if (Equals(text, words[i])) {
      *choice = static_cast<int>(i);
      return Code::kOk;
    }
  }
  return context.Fail(Code::kBadModel, "attribute '%s' is a word that this kernel does not know", name);
}

Code RequestScratch(PlanContext& context, int64_t bytes) {
  if (bytes < 0 || bytes > static_cast<int64_t>(PTRDIFF_MAX)) {
    return context.Fail(Code::kOutOfMemory, "needs more scratch memory than this machine can address");
  }
  if (bytes > 0) context.RequestScratch(static_cast<size_t>(bytes));
  return Code::kOk;
}

Code AllocateItems(PrepareContext& context, int64_t count, size_t size, void** array) {
  if (count >= 0 && count <= static_cast<int64_t>(PTRDIFF_MAX / size)) {
    *array = context.Allocate(static_cast<size_t>(count) * size);
    if (*array != nullptr) return Code::kOk;
  }
  return context.Fail(Code::kOutOfMemory, "no memory for packed constants");
}

}  // namespace lathe
