#include "native/core/status.h"

#include <stdio.h>
#include <string.h>

namespace lathe {

Code ErrorSink::Fail(Code code, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  FailWithPrefix(code, "", format, arguments);
  va_end(arguments);
  return code;
}

Code ErrorSink::FailWithPrefix(Code code, const char* prefix, const char* format, va_list arguments) const {
  // The arguments may hold the message that stands there now, so the new one is made aside.
  char text[sizeof(error_->message)];
  size_t used = strlen(prefix);
  if (used >= sizeof(text)) used = sizeof(text) - 1;
  memcpy(text, prefix, used);
  text[used] = 0;
  if (vsnprintf(text + used, sizeof(text) - used, format, arguments) < 0) text[used] = 0;
  memcpy(error_->message, text, sizeof(text));
  error_->code = static_cast<lathe_code>(code);
  return code;
}

Code ErrorSink::OutOfMemory(const char* what, size_t bytes) const {
  return Fail(Code::kOutOfMemory, "out of memory: %zu bytes for %s", bytes, what);
}

}  // namespace lathe
