// A program on the DSP opens no files: models come from the application.
#include "native/runtime/file_map.h"

namespace lathe {

Code FileMap::Open(const char*, const ErrorSink& errors) {
  return errors.Fail(Code::kUnsupported, "the DSP opens no files");
}

void FileMap::Close() {}

}  // namespace lathe
