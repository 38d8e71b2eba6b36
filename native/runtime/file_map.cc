#include "native/runtime/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "native/runtime/memory.h"

namespace lathe {

// The size comes from lseek: fstat has a symbol version that old systems lack.
Code FileMap::Open(const char* path, const ErrorSink& errors) {
  Close();
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errors.Fail(Code::kIo, "cannot open '%s': %s", path, strerror(errno));
  const off_t size = lseek(file, 0, SEEK_END);
  Code code = Code::kOk;
  if (size < 0 || static_cast<uint64_t>(size) > kMaxBytes) {
    code = errors.Fail(Code::kIo, "cannot find out the size of '%s'", path);
  } else if (size > 0) {
    void* data = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) {
      code = errors.Fail(Code::kIo, "cannot map '%s': %s", path, strerror(errno));
    } else {
      data_ = data;
      size_ = static_cast<size_t>(size);
    }
  }
  close(file);
  return code;
}

void FileMap::Close() {
  if (data_ != nullptr) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace lathe
