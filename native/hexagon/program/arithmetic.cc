// What compilers call where the DSP has no instruction: division, and numbers of double precision, rounded to nearest
// as everywhere else. Their names are the compiler's.
#include <stdint.h>
#include <string.h>

namespace {

struct Halves {
  uint64_t high, low;
};

template <typename T>
struct Divided {
  T quotient, rest;
};

int LeadingZeros(uint32_t number) { return __builtin_clz(number); }
int LeadingZeros(uint64_t number) { return __builtin_clzll(number); }

// One step for each bit of the quotient.
template <typename T>
Divided<T> DivideBits(T a, T b) {
  if (b == 0) return {static_cast<T>(~T{0}), a};
  if (a < b) return {0, a};
  int shift = LeadingZeros(b) - LeadingZeros(a);
  T part = static_cast<T>(b << shift), quotient = 0;
  for (; shift >= 0; --shift, part >>= 1) {
    quotient <<= 1;
    if (a >= part) {
      a -= part;
      quotient |= 1;
    }
  }
  return {quotient, a};
}

Divided<uint32_t> Divide(uint32_t a, uint32_t b) { return DivideBits(a, b); }

// Few numbers need all 64 bits.
Divided<uint64_t> Divide(uint64_t a, uint64_t b) {
  if ((a | b) >> 32 != 0) return DivideBits(a, b);
  const Divided<uint32_t> small = DivideBits(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
  return {small.quotient, small.rest};
}

template <typename T, typename U>
Divided<T> DivideSigned(T a, T b) {
  const U size_a = a < 0 ? U{0} - static_cast<U>(a) : static_cast<U>(a);
  const U size_b = b < 0 ? U{0} - static_cast<U>(b) : static_cast<U>(b);
  const Divided<U> sizes = Divide(size_a, size_b);
  const U quotient = (a < 0) != (b < 0) ? U{0} - sizes.quotient : sizes.quotient;
  return {static_cast<T>(quotient), static_cast<T>(a < 0 ? U{0} - sizes.rest : sizes.rest)};
}

Halves Multiply(uint64_t a, uint64_t b) {
  const uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
  const uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (middle & UINT32_MAX);
  return {ah * bh + (middle >> 32) + (other >> 32), other << 32 | (low & UINT32_MAX)};
}

constexpr uint64_t kSign = uint64_t{1} << 63, kHidden = uint64_t{1} << 52, kFraction = kHidden - 1;
constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52, kNan = kInfinity | kHidden >> 1;

uint64_t BitsOf(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

double OfBits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

bool IsNan(uint64_t bits) { return (bits & ~kSign) > kInfinity; }
bool IsInfinite(uint64_t bits) { return (bits & ~kSign) == kInfinity; }
bool IsZero(uint64_t bits) { return (bits & ~kSign) == 0; }

// A finite number but zero: `number` * 2^(exponent - 63), whose highest bit is set.
struct Parts {
  uint64_t number;
  int exponent;
};

Parts PartsOf(uint64_t bits) {
  const int stored = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & kFraction;
  if (stored != 0) return {(fraction | kHidden) << 11, stored - 1023};
  const int shift = __builtin_clzll(fraction);
  return {fraction << shift, -1011 - shift};
}

// Rounds to nearest, ties to even. The lowest bit of `number` may stand for all that is below it.
double Rounded(uint64_t sign, uint64_t number, int exponent) {
  if (number == 0) return OfBits(sign);
  const int shift = __builtin_clzll(number);
  number <<= shift;
  exponent -= shift;
  if (exponent > 1023) return OfBits(sign | kInfinity);
  int dropped = 11;
  int64_t stored = exponent + 1023;
  if (stored <= 0) {
    dropped += static_cast<int>(stored < -60 ? 61 : 1 - stored);
    stored = 0;
  }
  if (dropped > 63) {
    number = 1;
    dropped = 2;
  }
  const uint64_t half = uint64_t{1} << (dropped - 1), rest = number & (2 * half - 1);
  uint64_t kept = number >> dropped;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The hidden bit, where there is one, adds one to the exponent, and so does what rounding carries.
  const uint64_t above = stored > 0 ? static_cast<uint64_t>(stored - 1) << 52 : 0;
  return OfBits(sign | (above + kept));
}

double Sum(uint64_t a, uint64_t b) {
  if (IsNan(a) || IsNan(b)) return OfBits(kNan);
  if (IsInfinite(a)) return OfBits(IsInfinite(b) && a != b ? kNan : a);
  if (IsInfinite(b)) return OfBits(b);
  if (IsZero(a)) return OfBits(IsZero(b) ? a & b : b);
  if (IsZero(b)) return OfBits(a);
  if ((a & ~kSign) < (b & ~kSign)) {
    const uint64_t other = a;
    a = b;
    b = other;
  }
  Parts x = PartsOf(a), y = PartsOf(b);
  const int distance = x.exponent - y.exponent;
  // Two bits of room above, and the rest of y in the lowest bit.
  x.number >>= 2;
  y.number >>= 2;
  if (distance > 0) {
    const bool lost = distance > 63 || (y.number & ((uint64_t{1} << distance) - 1)) != 0;
    y.number = (distance > 63 ? 0 : y.number >> distance) | (lost ? 1 : 0);
  }
  const uint64_t sum = ((a ^ b) & kSign) == 0 ? x.number + y.number : x.number - y.number;
  if (sum == 0) return 0.0;
  return Rounded(a & kSign, sum, x.exponent + 2);
}

}  // namespace

extern "C" {

void* __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void* to, const void* from, size_t count) {
  return memcpy(to, from, count);
}

uint32_t __hexagon_udivsi3(uint32_t a, uint32_t b) { return Divide(a, b).quotient; }
uint32_t __hexagon_umodsi3(uint32_t a, uint32_t b) { return Divide(a, b).rest; }
int32_t __hexagon_divsi3(int32_t a, int32_t b) { return DivideSigned<int32_t, uint32_t>(a, b).quotient; }
int32_t __hexagon_modsi3(int32_t a, int32_t b) { return DivideSigned<int32_t, uint32_t>(a, b).rest; }
uint64_t __hexagon_udivdi3(uint64_t a, uint64_t b) { return Divide(a, b).quotient; }
uint64_t __hexagon_umoddi3(uint64_t a, uint64_t b) { return Divide(a, b).rest; }
int64_t __hexagon_divdi3(int64_t a, int64_t b) { return DivideSigned<int64_t, uint64_t>(a, b).quotient; }
int64_t __hexagon_moddi3(int64_t a, int64_t b) { return DivideSigned<int64_t, uint64_t>(a, b).rest; }

double __hexagon_adddf3(double a, double b) { return Sum(BitsOf(a), BitsOf(b)); }
double __hexagon_subdf3(double a, double b) { return Sum(BitsOf(a), BitsOf(b) ^ kSign); }

double __hexagon_muldf3(double left, double right) {
  const uint64_t a = BitsOf(left), b = BitsOf(right), sign = (a ^ b) & kSign;
  if (IsNan(a) || IsNan(b)) return OfBits(kNan);
  if (IsInfinite(a) || IsInfinite(b)) return OfBits(IsZero(a) || IsZero(b) ? kNan : sign | kInfinity);
  if (IsZero(a) || IsZero(b)) return OfBits(sign);
  const Parts x = PartsOf(a), y = PartsOf(b);
  const Halves product = Multiply(x.number, y.number);
  return Rounded(sign, product.high | (product.low != 0 ? 1 : 0), x.exponent + y.exponent + 1);
}

double __hexagon_divdf3(double left, double right) {
  const uint64_t a = BitsOf(left), b = BitsOf(right), sign = (a ^ b) & kSign;
  if (IsNan(a) || IsNan(b) || (IsInfinite(a) && IsInfinite(b)) || (IsZero(a) && IsZero(b))) return OfBits(kNan);
  if (IsInfinite(a) || IsZero(b)) return OfBits(sign | kInfinity);
  if (IsZero(a) || IsInfinite(b)) return OfBits(sign);
  const Parts x = PartsOf(a), y = PartsOf(b);
  // The divisor has 53 bits at most, so that the rest never leaves 64.
  const uint64_t divisor = y.number >> 11;
  uint64_t rest = x.number >> 11, quotient = 0;
  for (int bit = 0; bit < 57; ++bit) {
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
    rest <<= 1;
  }
  return Rounded(sign, quotient << 7 | (rest != 0 ? 1 : 0), x.exponent - y.exponent);
}

float __hexagon_divsf3(float a, float b) {
  // Twice the digits and two more: rounding twice gives what rounding once does.
  return static_cast<float>(__hexagon_divdf3(static_cast<double>(a), static_cast<double>(b)));
}

}  // extern "C"
