// vsnprintf as messages need it: texts, characters, integers and pointers, with width and precision; real numbers with
// a fixed number of digits.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace {

struct Target {
  char* to;
  size_t size, count;

  void Put(char character) {
    if (count + 1 < size) to[count] = character;
    ++count;
  }
};

struct Format {
  bool left = false, zeros = false, sign = false;
  int width = 0, precision = -1, length = 0;
};

void PutText(Target* target, const char* text, size_t length, const Format& format) {
  const size_t width = static_cast<size_t>(format.width), gap = width > length ? width - length : 0;
  for (size_t i = 0; i < gap && !format.left; ++i) target->Put(' ');
  for (size_t i = 0; i < length; ++i) target->Put(text[i]);
  for (size_t i = 0; i < gap && format.left; ++i) target->Put(' ');
}

void PutNumber(Target* target, uint64_t number, bool negative, unsigned base, bool capitals, const Format& format) {
  char digits[80];
  size_t at = sizeof digits;
  const char* letters = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
  do {
    digits[--at] = letters[number % base];
    number /= base;
  } while (number != 0);
  const int signs = negative || format.sign ? 1 : 0;
  int least = format.precision >= 0 ? format.precision : format.zeros && !format.left ? format.width - signs : 0;
  if (least > 64) least = 64;
  while (static_cast<int>(sizeof digits - at) < least) digits[--at] = '0';
  if (signs != 0) digits[--at] = negative ? '-' : '+';
  PutText(target, digits + at, sizeof digits - at, format);
}

void PutReal(Target* target, double value, const Format& format) {
  char digits[80];
  int count = 0;
  if (value != value || value - value != 0) return PutText(target, "nan", 3, format);
  const bool negative = value < 0;
  if (negative) value = -value;
  int precision = format.precision < 0 ? 6 : format.precision > 15 ? 15 : format.precision;
  uint64_t scale = 1;
  for (int i = 0; i < precision; ++i) scale *= 10;
  if (value > 1e18 / static_cast<double>(scale)) return PutText(target, "large", 5, format);
  const uint64_t scaled = static_cast<uint64_t>(value * static_cast<double>(scale) + 0.5);
  if (negative) digits[count++] = '-';
  count += snprintf(digits + count, 40, "%llu", static_cast<unsigned long long>(scaled / scale));
  if (precision > 0) {
    digits[count++] = '.';
    count += snprintf(digits + count, 32, "%0*llu", precision, static_cast<unsigned long long>(scaled % scale));
  }
  PutText(target, digits, static_cast<size_t>(count), format);
}

bool IsDigit(char character) { return character >= '0' && character <= '9'; }

// What stands between % and the letter. `*at` is behind it then.
Format ReadFormat(const char** at, va_list* arguments) {
  Format found;
  const char* format = *at;
  for (; *format == '-' || *format == '0' || *format == '+' || *format == ' ' || *format == '#'; ++format) {
    found.left = found.left || *format == '-';
    found.zeros = found.zeros || *format == '0';
    found.sign = found.sign || *format == '+';
  }
  const auto number = [&] {
    int value = 0;
    if (*format == '*') {
      ++format;
      return va_arg(*arguments, int);
    }
    for (; IsDigit(*format); ++format) value = value * 10 + *format - '0';
    return value;
  };
  found.width = number();
  if (*format == '.') {
    ++format;
    found.precision = number();
  }
  for (; *format == 'l' || *format == 'z' || *format == 'h' || *format == 'j' || *format == 't'; ++format)
    found.length += *format == 'l' || *format == 'j' ? 1 : 0;
  *at = format;
  return found;
}

void PutString(Target* target, const char* text, const Format& format) {
  if (text == nullptr) text = "(null)";
  size_t length = 0;
  while ((format.precision < 0 || length < static_cast<size_t>(format.precision)) && text[length] != 0) ++length;
  PutText(target, text, length, format);
}

// One argument by its letter.
void PutArgument(Target* target, char letter, const Format& format, va_list* arguments) {
  const bool wide = format.length > 1;
  if (letter == 's') {
    PutString(target, va_arg(*arguments, const char*), format);
  } else if (letter == 'c') {
    const char character = static_cast<char>(va_arg(*arguments, int));
    PutText(target, &character, 1, format);
  } else if (letter == 'd' || letter == 'i') {
    const int64_t number = wide ? va_arg(*arguments, int64_t) : va_arg(*arguments, int32_t);
    const uint64_t size = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    PutNumber(target, size, number < 0, 10, false, format);
  } else if (letter == 'u' || letter == 'x' || letter == 'X') {
    const uint64_t number = wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, uint32_t);
    PutNumber(target, number, false, letter == 'u' ? 10 : 16, letter == 'X', format);
  } else if (letter == 'p') {
    PutText(target, "0x", 2, {});
    PutNumber(target, reinterpret_cast<uintptr_t>(va_arg(*arguments, void*)), false, 16, false, format);
  } else if (letter == 'e' || letter == 'f' || letter == 'g') {
    PutReal(target, va_arg(*arguments, double), format);
  } else {
    target->Put(letter);
  }
}

}  // namespace

extern "C" int vsnprintf(char* to, size_t size, const char* format, va_list list) {
  Target target = {to, size, 0};
  va_list arguments;
  va_copy(arguments, list);
  while (*format != 0) {
    const char letter = *format++;
    if (letter != '%') {
      target.Put(letter);
      continue;
    }
    const Format found = ReadFormat(&format, &arguments);
    if (*format != 0) PutArgument(&target, *format++, found, &arguments);
  }
  va_end(arguments);
  if (size > 0) to[target.count < size ? target.count : size - 1] = 0;
  return static_cast<int>(target.count);
}
