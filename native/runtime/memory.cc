#include "native/runtime/memory.h"

#include <stdlib.h>
#include <string.h>

namespace lathe {

namespace {

void* AlignedMalloc(void*, size_t size) {
  void* memory = nullptr;
  return posix_memalign(&memory, kAlignment, size) == 0 ? memory : nullptr;
}

void AlignedFree(void*, void* memory) { free(memory); }

constexpr size_t kLargestSharedBlock = size_t{1} << 20;

}  // namespace

lathe_allocator DefaultAllocator() { return {AlignedMalloc, AlignedFree, nullptr}; }

void* AllocateFrom(const lathe_allocator& allocator, size_t bytes) {
  void* memory = allocator.alloc(allocator.user, bytes);
  if (memory == nullptr || IsAligned(memory)) return memory;
  allocator.free(allocator.user, memory);
  return nullptr;
}

void* MemoryArena::Allocate(size_t bytes, size_t alignment) {
  const size_t skip =
      AlignUp(reinterpret_cast<uintptr_t>(position_), alignment) - reinterpret_cast<uintptr_t>(position_);
  if (position_ == nullptr || skip > left_ || bytes > left_ - skip) {
    // A large piece gets a block of its own and leaves the current one in use.
    const bool own = bytes > next_block_ / 4;
    const size_t payload = AlignUp(own ? bytes : next_block_);
    void* memory = bytes > kMaxBytes ? nullptr : AllocateFrom(allocator_, kAlignment + payload);
    if (memory == nullptr) {
      failed_ = true;
      return nullptr;
    }
    auto* block = static_cast<Block*>(memory);
    block->next = blocks_;
    blocks_ = block;
    uint8_t* start = reinterpret_cast<uint8_t*>(block) + kAlignment;
    memset(start, 0, payload);
    if (own) return start;
    position_ = start;
    left_ = payload;
    if (next_block_ < kLargestSharedBlock) next_block_ *= 2;
    return Allocate(bytes, alignment);
  }
  uint8_t* result = position_ + skip;
  position_ = result + bytes;
  left_ -= skip + bytes;
  return result;
}

Span<uint8_t> MemoryArena::NewElements(size_t count, size_t size) {
  void* data = Allocate(count > kMaxBytes / size ? SIZE_MAX : count * size, kElementAlignment);
  return Span<uint8_t>(static_cast<uint8_t*>(data), data != nullptr ? count : 0);
}

const char* MemoryArena::CopyString(Span<const uint8_t> text) {
  char* copy = static_cast<char*>(Allocate(text.size() + 1, 1));
  if (copy != nullptr && !text.empty()) memcpy(copy, text.data(), text.size());
  return copy;
}

void MemoryArena::Clear() {
  while (blocks_ != nullptr) {
    Block* next = blocks_->next;
    allocator_.free(allocator_.user, blocks_);
    blocks_ = next;
  }
  position_ = nullptr;
  left_ = 0;
}

}  // namespace lathe
