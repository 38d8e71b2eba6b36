#include "native/runtime/status.h"

#include <stdio.h>
#include <string.h>

namespace lathe {

#ifndef LATHE_NO_MESSAGES
Code ErrorSink::Fail(Code code, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Report(code, "", format, &arguments);
  va_end(arguments);
  return code;
}

Code ErrorSink::BadModel(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Report(Code::kBadModel, kBadModel, format, &arguments);
  va_end(arguments);
  return Code::kBadModel;
}
#endif

Code ErrorSink::OutOfMemory(const char* what, size_t bytes) const {
  return Fail(Code::kOutOfMemory, "out of memory: %zu bytes for %s, aligned to 64", bytes, what);
}

Code ErrorSink::CheckIndex(const char* kind, size_t index, size_t count) const {
  if (index < count) return Code::kOk;
  return Fail(Code::kInvalidArgument, "there is no %s %zu, the model has %zu", kind, index, count);
}

Code ErrorSink::Report(Code code, const char* prefix, const char* format, va_list* arguments) const {
  if (error_ == nullptr) return code;
  // The arguments may hold the message that stands there now, so the new one is made aside.
  char text[sizeof(error_->message)];
  size_t used = strlen(prefix);
  if (used >= sizeof(text)) used = sizeof(text) - 1;
  memcpy(text, prefix, used);
  text[used] = 0;
#ifdef LATHE_NO_MESSAGES
  static_cast<void>(format), static_cast<void>(arguments);
  snprintf(text + used, sizeof(text) - used, "code %d, built without messages", static_cast<int>(code));
#else
  if (vsnprintf(text + used, sizeof(text) - used, format, *arguments) < 0) text[used] = 0;
#endif
  memcpy(error_->message, text, sizeof(text));
  error_->code = static_cast<lathe_code>(code);
  return code;
}

}  // namespace lathe
