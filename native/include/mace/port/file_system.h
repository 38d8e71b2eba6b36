// Files: read whole, through a mapping, and written.
#ifndef MACE_PORT_FILE_SYSTEM_H_
#define MACE_PORT_FILE_SYSTEM_H_

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "mace/face/files.h"
#include "mace/public/mace.h"
#include "mace/utils/macros.h"

namespace mace {
namespace port {

class ReadOnlyMemoryRegion {
 public:
  ReadOnlyMemoryRegion() = default;
  virtual ~ReadOnlyMemoryRegion() = default;
  virtual const void* data() const = 0;
  virtual uint64_t length() const = 0;

 private:
  MACE_DISABLE_COPY_AND_ASSIGN(ReadOnlyMemoryRegion)
};

// Somebody else's memory.
class ReadOnlyBufferMemoryRegion : public ReadOnlyMemoryRegion {
 public:
  ReadOnlyBufferMemoryRegion() : data_(nullptr), length_(0) {}
  ReadOnlyBufferMemoryRegion(const void* data, uint64_t length) : data_(data), length_(length) {}
  const void* data() const override { return data_; }
  uint64_t length() const override { return length_; }

 private:
  const void* data_;
  uint64_t length_;
};

class WritableFile {
 public:
  WritableFile() {}
  virtual ~WritableFile() {}
  virtual MaceStatus Append(const char* data, size_t length) = 0;
  virtual MaceStatus Close() = 0;
  virtual MaceStatus Flush() = 0;

 private:
  MACE_DISABLE_COPY_AND_ASSIGN(WritableFile)
};

class FileSystem {
 public:
  FileSystem() = default;
  virtual ~FileSystem() = default;
  virtual MaceStatus NewReadOnlyMemoryRegionFromFile(const char* fname,
                                                     std::unique_ptr<ReadOnlyMemoryRegion>* result) = 0;
  virtual MaceStatus NewWritableFile(const char* fname, std::unique_ptr<WritableFile>* result) = 0;
};

}  // namespace port

namespace face {

class FileRegion : public port::ReadOnlyMemoryRegion {
 public:
  explicit FileRegion(std::unique_ptr<MappedFile> file) : file_(std::move(file)) {}
  const void* data() const override { return file_->data(); }
  uint64_t length() const override { return file_->size(); }

 private:
  std::unique_ptr<MappedFile> file_;
};

class OutputFile : public port::WritableFile {
 public:
  OutputFile(std::FILE* file, const std::string& name) : file_(file), name_(name) {}
  ~OutputFile() override { Close(); }
  MaceStatus Append(const char* data, size_t length) override {
    return Result(file_ != nullptr && std::fwrite(data, 1, length, file_) == length);
  }
  MaceStatus Close() override {
    const bool closed = file_ == nullptr || std::fclose(file_) == 0;
    file_ = nullptr;
    return Result(closed);
  }
  MaceStatus Flush() override { return Result(file_ != nullptr && std::fflush(file_) == 0); }

 private:
  MaceStatus Result(bool done) const {
    return done ? MaceStatus() : MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, name_ + ": cannot write");
  }

  std::FILE* file_;
  const std::string name_;
};

class PosixFiles : public port::FileSystem {
 public:
  MaceStatus NewReadOnlyMemoryRegionFromFile(const char* fname,
                                             std::unique_ptr<port::ReadOnlyMemoryRegion>* result) override {
    std::unique_ptr<MappedFile> file;
    const MaceStatus status = MappedFile::Open(fname, &file);
    if (status == MaceStatus::MACE_SUCCESS) result->reset(new FileRegion(std::move(file)));
    return status;
  }
  MaceStatus NewWritableFile(const char* fname, std::unique_ptr<port::WritableFile>* result) override {
    std::FILE* file = std::fopen(fname, "wb");
    if (file == nullptr)
      return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, std::string(fname) + ": cannot open: " + std::strerror(errno));
    result->reset(new OutputFile(file, fname));
    return MaceStatus();
  }
};

}  // namespace face
}  // namespace mace

#endif  // MACE_PORT_FILE_SYSTEM_H_
