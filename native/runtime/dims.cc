#include "native/runtime/dims.h"

namespace lathe {

namespace {

DimOpcode OpcodeOf(int64_t code) { return static_cast<DimOpcode>(code & 15); }
int64_t OperandOf(int64_t code) { return code >> 4; }

// The remainder has the sign of the divisor, as in Python.
int64_t FloorModulo(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return a / b - (remainder != 0 && (remainder < 0) != (b < 0) ? 1 : 0);
}

// One operation; false where it has no result in 64 bits.
bool Apply(DimOpcode opcode, int64_t a, int64_t b, int64_t* result) {
  switch (opcode) {
    case DimOpcode::kAdd:
      return !__builtin_add_overflow(a, b, result);
    case DimOpcode::kSub:
      return !__builtin_sub_overflow(a, b, result);
    case DimOpcode::kMul:
      return MultiplyChecked(a, b, result);
    case DimOpcode::kFloorDiv:
    case DimOpcode::kCeilDiv:
    case DimOpcode::kMod:
      // Without the least number no quotient or negation leaves 64 bits.
      if (b == 0 || a == INT64_MIN) return false;
      *result = opcode == DimOpcode::kMod        ? FloorModulo(a, b)
                : opcode == DimOpcode::kFloorDiv ? FloorDivide(a, b)
                                                 : -FloorDivide(-a, b);
      return true;
    case DimOpcode::kMin:
      *result = a < b ? a : b;
      return true;
    case DimOpcode::kMax:
      *result = a > b ? a : b;
      return true;
    default:
      return false;
  }
}

// The least and the largest of the four corners; false where one of them has no result.
bool ApplyToCorners(DimOpcode opcode, DimRange a, DimRange b, DimRange* result) {
  const int64_t left[] = {a.low, a.high}, right[] = {b.low, b.high};
  *result = {INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; ++i) {
    int64_t corner = 0;
    if (!Apply(opcode, left[i / 2], right[i % 2], &corner)) return false;
    if (corner < result->low) result->low = corner;
    if (corner > result->high) result->high = corner;
  }
  return true;
}

DimRange ApplyToRanges(DimOpcode opcode, DimRange a, DimRange b) {
  DimRange result = {0, INT64_MAX};
  bool known = true;
  switch (opcode) {
    case DimOpcode::kSub:
      known = Apply(opcode, a.low, b.high, &result.low) && Apply(opcode, a.high, b.low, &result.high);
      break;
    case DimOpcode::kMod:
      result.high = b.high > 0 ? b.high - 1 : 0;
      break;
    case DimOpcode::kFloorDiv:
    case DimOpcode::kCeilDiv:
      // Divisors are positive in every model that runs; a range may be too wide to know it.
      if (b.low < 1) b.low = 1;
      if (b.high < 1) b.high = 1;
      known = ApplyToCorners(opcode, a, b, &result);
      break;
    default:
      known = ApplyToCorners(opcode, a, b, &result);
      break;
  }
  return known ? result : DimRange{0, INT64_MAX};
}

}  // namespace

bool MultiplyChecked(int64_t a, int64_t b, int64_t* result) {
  const uint64_t left = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  const uint64_t right = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  if (left != 0 && right > static_cast<uint64_t>(INT64_MAX) / left) return false;
  const int64_t magnitude = static_cast<int64_t>(left * right);
  *result = (a < 0) != (b < 0) ? -magnitude : magnitude;
  return true;
}

const char* CheckDimProgram(DimProgram program, size_t symbol_count) {
  if (program.size() > kMaxDimProgram) return "is too long";
  size_t depth = 0;
  for (const int64_t code : program) {
    const DimOpcode opcode = OpcodeOf(code);
    if (opcode > DimOpcode::kMax) return "has an unknown operation";
    if (opcode == DimOpcode::kSymbol && static_cast<uint64_t>(OperandOf(code)) >= symbol_count)
      return "names a symbol that does not exist";
    if (opcode <= DimOpcode::kSymbol) {
      if (++depth > kMaxDimStack) return "is nested too deeply";
    } else {
      if (depth < 2) return "lacks an operand";
      --depth;
    }
  }
  return depth == 1 ? nullptr : "does not end with one value";
}

bool EvaluateDim(DimProgram program, Span<const int64_t> symbols, int64_t* result) {
  int64_t stack[kMaxDimStack];
  size_t depth = 0;
  for (const int64_t code : program) {
    const DimOpcode opcode = OpcodeOf(code);
    if (opcode == DimOpcode::kPush) {
      stack[depth++] = OperandOf(code);
    } else if (opcode == DimOpcode::kSymbol) {
      stack[depth++] = symbols[static_cast<size_t>(OperandOf(code))];
    } else {
      --depth;
      if (!Apply(opcode, stack[depth - 1], stack[depth], &stack[depth - 1])) return false;
    }
  }
  *result = stack[0];
  return true;
}

DimRange BoundDim(DimProgram program, Span<const DimSymbol> symbols) {
  DimRange stack[kMaxDimStack];
  size_t depth = 0;
  for (const int64_t code : program) {
    const DimOpcode opcode = OpcodeOf(code);
    if (opcode == DimOpcode::kPush) {
      stack[depth++] = {OperandOf(code), OperandOf(code)};
    } else if (opcode == DimOpcode::kSymbol) {
      const DimSymbol& symbol = symbols[static_cast<size_t>(OperandOf(code))];
      stack[depth++] = {symbol.low, symbol.high};
    } else {
      --depth;
      stack[depth - 1] = ApplyToRanges(opcode, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}

}  // namespace lathe
