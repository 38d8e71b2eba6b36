// Checks that kernels share. Each returns kOk or fails with a message; type and rank mismatches are kUnsupported, so
// that another kernel of the operator may be tried, everything else that does not fit is kBadModel.
//
// They are functions of the core and not of each kernel: a library holds them once.
#ifndef LATHE_KERNEL_CHECK_H_
#define LATHE_KERNEL_CHECK_H_

#include <stdint.h>
#include <string.h>

#include "native/runtime/kernel.h"

namespace lathe {

// Window sizes, strides, pads and spatial extents stay below this, so that products of two of them and their sums
// stay within int64_t.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

// Elements of an operand that is packed into scratch memory; keeps byte counts of expanded copies within int64_t.
constexpr int64_t kMaxPackedElements = int64_t{1} << 40;

bool Equals(Span<const char> text, const char* word);

Code CheckArity(const PrepareContext& context, int least, int most, int outputs);

// All inputs and outputs have this element type.
Code CheckAllTypes(const PrepareContext& context, DType dtype);

// Inputs and outputs have one element type among themselves, whatever it is.
Code CheckSameTypes(const PrepareContext& context);

Code CheckRank(const Reporter& reporter, const Tensor& tensor, int rank, const char* what);

// Output `index` has exactly this shape.
Code CheckShape(const PlanContext& context, int index, const Shape& expected);

// Reads `count` integers of an attribute, each within [low, high].
Code ReadInts(const PrepareContext& context, const char* name, int count, int64_t low, int64_t high, int64_t* values);
Code ReadInt(const PrepareContext& context, const char* name, int64_t low, int64_t high, int64_t* value);
Code ReadBool(const PrepareContext& context, const char* name, bool* value);

// Reads a string attribute that is one of `words` and gives its position among them.
Code ReadChoice(const PrepareContext& context, const char* name, Span<const char* const> words, int* choice);
namespace {
template <int count>
inline Code ReadChoice(const PrepareContext& context, const char* name, const char* const (&words)[count],
                       int* choice) {
  return ReadChoice(context, name, Span<const char* const>(words, count), choice);
}
}  // namespace

// Byte counts are int64_t everywhere; size_t may be smaller.
Code RequestScratch(PlanContext& context, int64_t bytes);

Code AllocateItems(PrepareContext& context, int64_t count, size_t size, void** array);
namespace {
template <typename T>
inline Code AllocateArray(PrepareContext& context, int64_t count, T** array) {
  return AllocateItems(context, count, sizeof(T), reinterpret_cast<void**>(array));
}
}  // namespace

}  // namespace lathe

#endif  // LATHE_KERNEL_CHECK_H_
