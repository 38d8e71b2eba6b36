// How the interface reports what is wrong.
#ifndef PADDLE_FACE_FAILURE_H_
#define PADDLE_FACE_FAILURE_H_

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define LATHE_PADDLE_EXCEPTIONS 1
#endif

namespace paddle {
namespace lite_api {

// What Paddle-Lite ends a program for. A program that catches none ends with the text.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

namespace face {

[[noreturn]] inline void Fail(const std::string& message) {
#ifdef LATHE_PADDLE_EXCEPTIONS
  throw Error(message);
#else
  std::fprintf(stderr, "paddle::lite_api: %s\n", message.c_str());
  std::abort();
#endif
}

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_FAILURE_H_
