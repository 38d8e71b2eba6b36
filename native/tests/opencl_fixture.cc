#include "native/tests/opencl_fixture.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "native/runtime/memory.h"

namespace lathe_test {

Folder::Folder() : path_(testing::TempDir() + "lathe_opencl_XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) abort();
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

void Folder::Write(const std::string& name, const std::vector<uint8_t>& bytes) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint8_t> Folder::Read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::string> Folder::Files() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename().string());
  return std::vector<std::string>(names.begin(), names.end());
}

lathe::Code Messages::Report(lathe::Code code, const char* format, va_list* arguments) const {
  char text[508];
  vsnprintf(text, sizeof(text), format, *arguments);
  text_ = text;
  return code;
}

void* FailingAllocator::Alloc(void* user, size_t size) {
  auto* self = static_cast<FailingAllocator*>(user);
  if (self->fail_at_ >= 0 && self->calls_ >= self->fail_at_) return nullptr;
  ++self->calls_;
  ++self->alive_;
  void* memory = nullptr;
  return posix_memalign(&memory, lathe::kAlignment, size) == 0 ? memory : nullptr;
}

void FailingAllocator::Free(void* user, void* memory) {
  --static_cast<FailingAllocator*>(user)->alive_;
  free(memory);
}

}  // namespace lathe_test
