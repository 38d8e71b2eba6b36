// Which libraries a source file makes predictors from. Each file has its own list: two files of one program may use
// libraries with models of the same name.
#ifndef PADDLE_FACE_LIBRARIES_H_
#define PADDLE_FACE_LIBRARIES_H_

#include <cstring>
#include <vector>

#include "lathe/c_api.h"

namespace paddle {
namespace lite_api {
namespace face {

using Libraries = std::vector<const lathe_api*>;

// Puts a library onto a list, once.
struct Bind {
  Bind(Libraries& list, const lathe_api* library) {
    for (const lathe_api* known : list) {
      if (known == library) return;
    }
    list.push_back(library);
  }
};

namespace {

// Not a variable: others are bound before it would be made.
inline Libraries& BoundLibraries() {
  static Libraries libraries;
  return libraries;
}

}  // namespace

inline bool HasGpuKernels(const lathe_api* api) {
  for (size_t i = 0; i < api->kernel_count(); ++i) {
    const char* isa = std::strstr(api->kernel_name(i), "__opencl");
    if (isa != nullptr && isa[8] == 0) return true;
  }
  return false;
}

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_LIBRARIES_H_
