// Dimension expressions: checked once when a model is read, evaluated at every resize.
#ifndef LATHE_RUNTIME_DIMS_H_
#define LATHE_RUNTIME_DIMS_H_

#include <stddef.h>
#include <stdint.h>

#include "native/runtime/span.h"

namespace lathe {

// An element of a postfix program is `operand << 4 | opcode`; the numbers are those of the container.
enum class DimOpcode : uint8_t { kPush, kSymbol, kAdd, kSub, kMul, kFloorDiv, kCeilDiv, kMod, kMin, kMax };

constexpr size_t kMaxDimStack = 32;
constexpr size_t kMaxDimProgram = 4096;

struct DimSymbol {
  const char* name;
  int64_t low;
  int64_t high;
};

// A symbol whose bound is this has none.
constexpr int64_t kUnbounded = INT32_MAX;

struct DimRange {
  int64_t low;
  int64_t high;
};

using DimProgram = Span<const int64_t>;

// Null where the program may be evaluated: known opcodes, symbols below `symbol_count`, a stack that neither runs empty
// nor deeper than kMaxDimStack, one value at the end. Else what is wrong with it.
const char* CheckDimProgram(DimProgram program, size_t symbol_count);

// Evaluates a checked program. False where a result leaves 64 bits or a divisor is 0.
bool EvaluateDim(DimProgram program, Span<const int64_t> symbols, int64_t* result);

// An interval that holds every value of a checked program. What leaves 64 bits, or divides by what may be 0, is bounded
// by INT64_MAX.
DimRange BoundDim(DimProgram program, Span<const DimSymbol> symbols);

// a * b; false where it leaves 64 bits. (The builtin calls compiler-rt on 32-bit ARM.)
bool MultiplyChecked(int64_t a, int64_t b, int64_t* result);

}  // namespace lathe

#endif  // LATHE_RUNTIME_DIMS_H_
