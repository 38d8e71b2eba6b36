// How the core reports: a code to the caller, a message into the lathe_error that the caller handed in.
#ifndef LATHE_RUNTIME_STATUS_H_
#define LATHE_RUNTIME_STATUS_H_

#include <string.h>

#include "lathe/c_api.h"
#include "native/runtime/kernel.h"

namespace lathe {

constexpr char kBadModel[] = "bad model: ";

// The place a message goes to; none where the caller handed in NULL. Copies share the place.
class ErrorSink {
 public:
  explicit ErrorSink(lathe_error* error) : error_(error) {}

  // printf of libc; the text is cut to fit. Returns `code`.
  LATHE_MESSAGE_FUNCTION(Code Fail(Code code, const char*, ...) const, 3, 4, Report(code, "", nullptr, nullptr))
  // The text behind a prefix. Without messages, `format` and `arguments` are null and the code stands for the text.
  Code Report(Code code, const char* prefix, const char* format, va_list* arguments) const;
  // kBadModel, with "bad model: " before the text.
  LATHE_MESSAGE_FUNCTION(Code BadModel(const char*, ...) const, 2, 3,
                         Report(Code::kBadModel, kBadModel, nullptr, nullptr))
  Code OutOfMemory(const char* what, size_t bytes) const;
  // That there is an input, node, ... of this index.
  Code CheckIndex(const char* kind, size_t index, size_t count) const;

  // For what is called by engine_create alone, where there is a place.
  const char* message() const { return error_->message; }

 private:
  lathe_error* error_;
};

// An answer into a struct of the caller's, which may be older or newer than ours; its `struct_size` stays.
template <typename T>
void CopyOut(T made, T* out) {
  made.struct_size = out->struct_size;
  memcpy(out, &made, out->struct_size < sizeof(T) ? out->struct_size : sizeof(T));
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_STATUS_H_
