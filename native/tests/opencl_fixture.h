// What the tests of native/opencl share.
#ifndef LATHE_TESTS_OPENCL_FIXTURE_H_
#define LATHE_TESTS_OPENCL_FIXTURE_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "native/runtime/kernel.h"

namespace lathe_test {

// A folder of its own, which vanishes with all that is in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::vector<uint8_t>& bytes) const;
  std::vector<uint8_t> Read(const std::string& name) const;
  std::vector<std::string> Files() const;  // sorted

 private:
  std::string path_;
};

// Keeps the last message.
class Messages final : public lathe::Reporter {
 public:
  const std::string& text() const { return text_; }

 private:
  lathe::Code Report(lathe::Code code, const char* format, va_list* arguments) const override;

  mutable std::string text_;
};

// Fails its allocation number `fail_at` (from 0) and those behind it, and counts what is alive.
class FailingAllocator {
 public:
  explicit FailingAllocator(int fail_at) : fail_at_(fail_at) {}
  lathe_allocator functions() { return {Alloc, Free, this}; }

  int calls() const { return calls_; }
  int alive() const { return alive_; }

 private:
  static void* Alloc(void* user, size_t size);
  static void Free(void* user, void* memory);

  int fail_at_;
  int calls_ = 0;
  int alive_ = 0;
};

}  // namespace lathe_test

#endif  // LATHE_TESTS_OPENCL_FIXTURE_H_
