// Memory that a session reads in place: aligned to 64.
#ifndef PADDLE_FACE_MEMORY_H_
#define PADDLE_FACE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace paddle {
namespace lite_api {
namespace face {

constexpr size_t kAlignment = 64;

inline bool IsAligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0; }

class Buffer {
 public:
  // Keeps its contents where they still fit.
  void* Resize(size_t size) {
    if (size > size_ || start_ == nullptr) {
      memory_.reset(new char[size + kAlignment]());
      start_ = memory_.get() + (kAlignment - reinterpret_cast<uintptr_t>(memory_.get()) % kAlignment) % kAlignment;
      size_ = size;
    }
    return start_;
  }
  void* data() const { return start_; }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> memory_;
  char* start_ = nullptr;
  size_t size_ = 0;
};

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_MEMORY_H_
