// A file mapped into memory, read-only.
#ifndef LATHE_RUNTIME_FILE_MAP_H_
#define LATHE_RUNTIME_FILE_MAP_H_

#include "native/runtime/status.h"

namespace lathe {

class FileMap {
 public:
  FileMap() = default;
  ~FileMap() { Close(); }
  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;

  Code Open(const char* path, const ErrorSink& errors);
  void Close();

  lathe_bytes bytes() const { return {data_, size_}; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_FILE_MAP_H_
