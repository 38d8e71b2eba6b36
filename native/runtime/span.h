// A view of contiguous elements: the only container that crosses interfaces.
#ifndef LATHE_RUNTIME_SPAN_H_
#define LATHE_RUNTIME_SPAN_H_

#include <stddef.h>

// For what headers define outside of anonymous namespaces. A copy of it in an object that is compiled for a better
// instruction set could be the one that the linker takes for all; so there are no copies.
#define LATHE_INLINE __attribute__((always_inline)) inline

// Arrays share blocks of memory, where AddressSanitizer sees no index that is too large: builds under it check each
// one.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LATHE_CHECKS_INDEXES
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LATHE_CHECKS_INDEXES
#endif
#ifdef LATHE_CHECKS_INDEXES
#define LATHE_CHECK_INDEX(valid) ((valid) ? static_cast<void>(0) : __builtin_trap())
#else
#define LATHE_CHECK_INDEX(valid) static_cast<void>(0)
#endif

namespace lathe {

template <typename T>
class Span {
 public:
  constexpr Span() = default;
  LATHE_INLINE constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t n>
  LATHE_INLINE constexpr Span(T (&array)[n]) : data_(array), size_(n) {}

  LATHE_INLINE constexpr T* data() const { return data_; }
  LATHE_INLINE constexpr size_t size() const { return size_; }
  LATHE_INLINE constexpr bool empty() const { return size_ == 0; }
  LATHE_INLINE constexpr T& operator[](size_t index) const { return LATHE_CHECK_INDEX(index < size_), data_[index]; }
  LATHE_INLINE constexpr T* begin() const { return data_; }
  LATHE_INLINE constexpr T* end() const { return data_ + size_; }
  LATHE_INLINE constexpr Span subspan(size_t offset, size_t count) const {
    return LATHE_CHECK_INDEX(offset <= size_ && count <= size_ - offset), Span(data_ + offset, count);
  }
  LATHE_INLINE constexpr operator Span<const T>() const { return Span<const T>(data_, size_); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_SPAN_H_
