// A WebAssembly module opens no files: the page, or the program around it, passes models in memory.
#include "native/runtime/file_map.h"

namespace lathe {

Code FileMap::Open(const char*, const ErrorSink& errors) {
  return errors.Fail(Code::kUnsupported, "a WebAssembly module opens no files: pass the model in memory");
}

void FileMap::Close() {}

}  // namespace lathe
