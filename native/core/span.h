// A view of contiguous elements: the only container that crosses interfaces.
#ifndef LATHE_CORE_SPAN_H_
#define LATHE_CORE_SPAN_H_

#include <stddef.h>

namespace lathe {

template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t n>
  constexpr Span(T (&array)[n]) : data_(array), size_(n) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t index) const { return data_[index]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  constexpr Span subspan(size_t offset, size_t count) const { return Span(data_ + offset, count); }
  constexpr operator Span<const T>() const { return Span<const T>(data_, size_); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lathe

#endif  // LATHE_CORE_SPAN_H_
