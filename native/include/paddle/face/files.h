// The contents of a file, and what kind of model they are.
#ifndef PADDLE_FACE_FILES_H_
#define PADDLE_FACE_FILES_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "lathe/c_api.h"
#include "paddle/face/failure.h"

namespace paddle {
namespace lite_api {
namespace face {

// A file mapped into memory.
class MappedFile {
 public:
  explicit MappedFile(const std::string& name) {
    errno = 0;
    const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      void* data = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (data != MAP_FAILED) bytes_ = {data, static_cast<size_t>(info.st_size)};
    }
    const std::string why = errno != 0 ? std::strerror(errno) : "it is empty or no regular file";
    if (file >= 0) close(file);
    if (bytes_.data == nullptr) Fail(name + ": cannot read: " + why);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { munmap(const_cast<void*>(bytes_.data), bytes_.size); }

  lathe_bytes bytes() const { return bytes_; }

 private:
  lathe_bytes bytes_ = {nullptr, 0};
};

inline bool IsFile(const std::string& name) {
  struct stat info;
  return stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}
inline bool IsFolder(const std::string& name) {
  struct stat info;
  return stat(name.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// A field of a protobuf message: its number and wire type, its value, or where its contents are.
struct Field {
  uint64_t number = 0;
  uint64_t kind = 0;
  uint64_t value = 0;
  lathe_bytes contents = {nullptr, 0};
};

class Fields {
 public:
  explicit Fields(lathe_bytes bytes) : at_(static_cast<const unsigned char*>(bytes.data)), end_(at_ + bytes.size) {}

  // False at the end, and where there is no message.
  bool Next(Field* field) {
    uint64_t tag = 0;
    if (at_ >= end_ || !ReadNumber(&tag) || tag >> 3 == 0) return false;
    *field = Field();
    field->number = tag >> 3;
    field->kind = tag & 7;
    if (field->kind == 0) return ReadNumber(&field->value);
    uint64_t size = field->kind == 1 ? 8 : 4;
    if (field->kind == 2 ? !ReadNumber(&size) : field->kind != 1 && field->kind != 5) return false;
    if (size > static_cast<uint64_t>(end_ - at_)) return false;
    field->contents = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

 private:
  bool ReadNumber(uint64_t* number) {
    *number = 0;
    for (int shift = 0; shift < 64 && at_ < end_; shift += 7) {
      const unsigned char byte = *at_++;
      *number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  const unsigned char* at_;
  const unsigned char* const end_;
};

// A program of Paddle, which is a message whose first field holds blocks that begin with an index (field 1) and that of
// the parent (2); a Lathe model begins with its version, a number.
inline bool IsProgram(lathe_bytes bytes) {
  static const char json[] = "{\"base_code\"";  // programs of Paddle 3 are text
  if (bytes.size > sizeof(json) && std::memcmp(bytes.data, json, sizeof(json) - 1) == 0) return true;
  Fields fields(bytes);
  Field block, index, parent;
  if (!fields.Next(&block) || block.number != 1 || block.kind != 2) return false;
  Fields inner(block.contents);
  return inner.Next(&index) && index.number == 1 && index.kind == 0 && inner.Next(&parent) && parent.number == 2 &&
         parent.kind == 0;
}

// A file of `opt`: a small number of two bytes, a text of 16 that is padded with zeros and begins with a letter or a
// digit, and the size of what follows.
inline bool IsNaiveBuffer(lathe_bytes bytes) {
  if (bytes.size < 26) return false;
  const unsigned char* at = static_cast<const unsigned char*>(bytes.data);
  if (at[0] > 2 || at[1] != 0) return false;
  size_t length = 0;
  while (length < 16 && at[2 + length] >= 0x20 && at[2 + length] < 0x7f) ++length;
  for (size_t i = length; i < 16; ++i) {
    if (at[2 + i] != 0) return false;
  }
  return length > 0 || at[0] == 0;
}

// Refuses models that have to be converted first; `name` is what the program calls it.
inline void CheckOrigin(const std::string& name, lathe_bytes bytes) {
  const char* const how =
      "; a library of Lathe runs models that Lathe has converted: build the library from the model that it was made "
      "from (lathe init MODEL writes the deployment file, lathe build reads it), and pass model/<abi>/<model>.pb";
  if (IsNaiveBuffer(bytes)) Fail(name + ": this is a model of Paddle-Lite's opt (.nb)" + how);
  if (IsProgram(bytes)) Fail(name + ": this is a program of Paddle" + how);
}

// The name of the file beside it that has another ending.
inline std::string Beside(const std::string& name, const char* ending) {
  const size_t folder = name.find_last_of('/'), dot = name.find_last_of('.');
  const bool ends = dot != std::string::npos && (folder == std::string::npos || dot > folder + 1);
  return (ends ? name.substr(0, dot) : name) + ending;
}

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_FILES_H_
