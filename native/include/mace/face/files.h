// A file mapped into memory.
#ifndef MACE_FACE_FILES_H_
#define MACE_FACE_FILES_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "mace/face/interface.h"

namespace mace {
namespace face {

class MappedFile {
 public:
  static MaceStatus Open(const char* name, std::unique_ptr<MappedFile>* result) {
    const auto failed = [&](const char* what) {
      const std::string why = errno != 0 ? std::strerror(errno) : "it is empty or no regular file";
      return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, std::string(name) + ": cannot " + what + ": " + why);
    };
    errno = 0;
    const int file = name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return failed("open");
    struct stat info;
    void* data = MAP_FAILED;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
      data = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    const MaceStatus status = data == MAP_FAILED ? failed("read") : MaceStatus();
    close(file);
    if (data != MAP_FAILED) result->reset(new MappedFile(data, static_cast<size_t>(info.st_size)));
    return status;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { munmap(data_, size_); }

  const void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(void* data, size_t size) : data_(data), size_(size) {}

  void* data_;
  size_t size_;
};

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_FILES_H_
