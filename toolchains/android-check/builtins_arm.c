/* Stands in for what the compiler's own library of an NDK holds for 32-bit ARM: divisions, which ARMv7 need not have,
 * and conversions of 64-bit integers. */
#include <stdint.h>

/* Bit by bit: nothing here may divide. */
uint64_t lathe_udivmod(uint64_t value, uint64_t by, uint64_t* rest) {
  uint64_t quotient = 0, left = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const int carry = (int)(left >> 63);
    left = left << 1 | (value >> bit & 1);
    quotient <<= 1;
    if (carry || left >= by) {
      left -= by;
      quotient |= 1;
    }
  }
  *rest = left;
  return quotient;
}

int64_t lathe_divmod(int64_t value, int64_t by, int64_t* rest) {
  const uint64_t a = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  const uint64_t b = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
  uint64_t left;
  const uint64_t quotient = lathe_udivmod(a, b, &left);
  *rest = (int64_t)(value < 0 ? 0 - left : left);
  return (int64_t)((value < 0) != (by < 0) ? 0 - quotient : quotient);
}

/* These hand back two numbers, the quotient and the rest, in the first four registers. */
#define DIVMOD64(name, function)                                                              \
  __attribute__((naked)) void name(void) {                                                    \
    __asm__("push {r4, lr}\n sub sp, sp, #16\n add r4, sp, #8\n str r4, [sp]\n bl " #function \
            "\n ldr r2, [sp, #8]\n ldr r3, [sp, #12]\n add sp, sp, #16\n pop {r4, pc}");      \
  }
DIVMOD64(__aeabi_uldivmod, lathe_udivmod)
DIVMOD64(__aeabi_ldivmod, lathe_divmod)

uint32_t __aeabi_uidiv(uint32_t value, uint32_t by) {
  uint64_t rest;
  return (uint32_t)lathe_udivmod(value, by, &rest);
}

int32_t __aeabi_idiv(int32_t value, int32_t by) {
  int64_t rest;
  return (int32_t)lathe_divmod(value, by, &rest);
}

/* Two numbers in two registers are one of 64 bits. */
uint64_t __aeabi_uidivmod(uint32_t value, uint32_t by) {
  uint64_t rest;
  const uint64_t quotient = lathe_udivmod(value, by, &rest);
  return quotient | rest << 32;
}

uint64_t __aeabi_idivmod(int32_t value, int32_t by) {
  int64_t rest;
  const int64_t quotient = lathe_divmod(value, by, &rest);
  return (uint32_t)quotient | (uint64_t)rest << 32;
}

uint64_t __aeabi_d2ulz(double value) {
  if (!(value > 0)) return 0;
  const uint32_t high = (uint32_t)(value / 4294967296.0);
  return (uint64_t)high << 32 | (uint32_t)(value - high * 4294967296.0);
}

int64_t __aeabi_d2lz(double value) {
  return value < 0 ? -(int64_t)__aeabi_d2ulz(-value) : (int64_t)__aeabi_d2ulz(value);
}

uint64_t __aeabi_f2ulz(float value) { return __aeabi_d2ulz(value); }
int64_t __aeabi_f2lz(float value) { return __aeabi_d2lz(value); }
double __aeabi_ul2d(uint64_t value) { return (uint32_t)(value >> 32) * 4294967296.0 + (uint32_t)value; }
double __aeabi_l2d(int64_t value) { return (int32_t)(value >> 32) * 4294967296.0 + (uint32_t)value; }

/* Above 2^53 what is rounded twice may be off by the last bit. */
float __aeabi_ul2f(uint64_t value) { return (float)__aeabi_ul2d(value); }
float __aeabi_l2f(int64_t value) { return (float)__aeabi_l2d(value); }
