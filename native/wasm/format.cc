// The printf of messages, as far as messages use it: %s, %d, %u, %c and %%, with the lengths ll, l and z, and a limit
// of texts such as %.80s. That of libc would bring files and functions of WASI along, which pages do not have.
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace {

// Counts all that is written, and keeps what fits.
struct Text {
  char* to;
  size_t room;
  size_t length = 0;

  void Put(char c) {
    if (length + 1 < room) to[length] = c;
    ++length;
  }
  void Put(const char* text, size_t limit) {
    for (size_t i = 0; i < limit && text[i] != 0; ++i) Put(text[i]);
  }
  void PutNumber(uint64_t number) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) Put(digits[--count]);
  }
  void PutSigned(int64_t number) {
    if (number < 0) Put('-');
    PutNumber(number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number));
  }
};

// What stands behind a percent sign.
struct Field {
  size_t limit = SIZE_MAX;  // of a text
  int longs = 0;
  char kind = 0;

  const char* Read(const char* format) {
    if (*format == '.') {
      limit = 0;
      for (++format; *format >= '0' && *format <= '9'; ++format)
        limit = 10 * limit + static_cast<size_t>(*format - '0');
    }
    for (; *format == 'l' || *format == 'z'; ++format) longs += *format == 'l' ? 1 : 0;
    kind = *format;
    return kind != 0 ? format + 1 : format;
  }
};

}  // namespace

extern "C" {

int vsnprintf(char* to, size_t room, const char* format, va_list arguments) {
  Text text = {to, room};
  while (*format != 0) {
    if (*format != '%') {
      text.Put(*format++);
      continue;
    }
    Field field;
    format = field.Read(format + 1);
    const bool wide = field.longs > 1;
    switch (field.kind) {
      case 's':
        text.Put(va_arg(arguments, const char*), field.limit);
        break;
      case 'd':
        text.PutSigned(wide ? va_arg(arguments, long long) : va_arg(arguments, int));
        break;
      case 'u':
        text.PutNumber(wide ? va_arg(arguments, unsigned long long) : va_arg(arguments, unsigned));
        break;
      case 'c':
        text.Put(static_cast<char>(va_arg(arguments, int)));
        break;
      default:
        text.Put('%');
        if (field.kind != '%') return -1;  // a field that is none of these
    }
  }
  if (room > 0) to[text.length < room ? text.length : room - 1] = 0;
  return static_cast<int>(text.length);
}

int snprintf(char* to, size_t room, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(to, room, format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
