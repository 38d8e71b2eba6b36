// Memory of the core: everything comes from one lathe_allocator, in blocks that are given back together.
#ifndef LATHE_RUNTIME_MEMORY_H_
#define LATHE_RUNTIME_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

#include "lathe/c_api.h"
#include "native/runtime/span.h"

namespace lathe {

constexpr size_t kAlignment = 64;
constexpr size_t kElementAlignment = alignof(max_align_t) < 8 ? 8 : alignof(max_align_t);

// Rounds up; sizes are checked against kMaxBytes before, so this does not overflow.
constexpr size_t AlignUp(size_t size, size_t alignment = kAlignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}
inline bool IsAligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0; }

// The largest size of anything: half of the address space, so that sums of two do not overflow.
constexpr uint64_t kMaxBytes = PTRDIFF_MAX / 2;

// posix_memalign and free.
lathe_allocator DefaultAllocator();

// Null where the allocator has none, or gives memory that is not aligned as lathe_allocator says: that goes back to it.
void* AllocateFrom(const lathe_allocator& allocator, size_t bytes);

// Allocates by moving a pointer through blocks; frees only as a whole. Memory is zeroed.
class MemoryArena {
 public:
  explicit MemoryArena(const lathe_allocator& allocator) : allocator_(allocator) {}
  ~MemoryArena() { Clear(); }
  MemoryArena(const MemoryArena&) = delete;
  MemoryArena& operator=(const MemoryArena&) = delete;

  // Null where memory is out. `alignment` is a power of two up to 64. Size 0 gives a valid pointer.
  void* Allocate(size_t bytes, size_t alignment = kAlignment);

  // `count` elements of `size` bytes; null and none where memory is out.
  Span<uint8_t> NewElements(size_t count, size_t size);

  // Elements are zeroed, not constructed: for types to which that makes no difference.
  template <typename T>
  LATHE_INLINE bool NewArray(size_t count, Span<T>* array) {
    static_assert(alignof(T) <= kElementAlignment, "");
    const Span<uint8_t> made = NewElements(count, sizeof(T));
    *array = Span<T>(reinterpret_cast<T*>(made.data()), made.size());
    return made.data() != nullptr;
  }

  // A copy that ends with 0; null where memory is out.
  const char* CopyString(Span<const uint8_t> text);

  // Whether memory was out at any time.
  bool failed() const { return failed_; }

  void Clear();

 private:
  struct Block {
    Block* next;
  };

  lathe_allocator allocator_;
  Block* blocks_ = nullptr;
  uint8_t* position_ = nullptr;
  size_t left_ = 0;
  size_t next_block_ = 4096;
  bool failed_ = false;
};

// Placement new of our own: <new> belongs to the C++ library.
struct Place {};

}  // namespace lathe

inline void* operator new(size_t, ::lathe::Place, void* memory) noexcept { return memory; }

#endif  // LATHE_RUNTIME_MEMORY_H_
