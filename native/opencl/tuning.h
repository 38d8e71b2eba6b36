// What tuning found on this device: for launches the size of their work-groups, for nodes the unit that runs them.
//
// Kept in the form of store.h, Content::kTuning. A key is the hash of what a launch or a node is; what stands there is
// five uint32, little-endian: three numbers, the nanoseconds that it takes without tuning, and those with it.
//    of a launch  the size of its work-groups; 0, 0, 0: the driver chooses
//    of a node    the hash of the unit's name, its lower half first, and 0
// Whatever a file says is checked when it is used: a size has to fit, a unit has to take the node.
#ifndef LATHE_OPENCL_TUNING_H_
#define LATHE_OPENCL_TUNING_H_

#include "lathe/c_api.h"
#include "native/opencl/lock.h"
#include "native/opencl/store.h"
#include "native/runtime/kernel.h"
#include "native/runtime/memory.h"

namespace lathe::opencl {

struct Tuned {
  uint32_t numbers[3];
  uint32_t usual_ns;
  uint32_t best_ns;

  uint64_t unit() const { return numbers[0] | uint64_t{numbers[1]} << 32; }
};

// May be used by several threads at once.
class Tuning {
 public:
  explicit Tuning(const lathe_allocator& allocator) : allocator_(allocator), memory_(allocator) {}

  // Takes what is for this device in a file, in memory and in the library; the first one counts where several have
  // something. What cannot be read or breaks a rule is as good as nothing. kOutOfMemory.
  Code Open(uint64_t identity, const char* path, const lathe_bytes& bytes, Span<const uint8_t> library,
            uint32_t milliseconds);

  bool Find(uint64_t key, Tuned* tuned);
  // False where memory is out.
  bool Keep(uint64_t key, const Tuned& tuned);
  // All of it as the bytes of a file; none where nothing is tuned. False where memory is out.
  bool Save(MemoryArena* arena, Span<const uint8_t>* file);

  // Sessions tune one after the other.
  Lock& turn() { return turn_; }
  // In the turn of a session: how many nanoseconds it has left, and what it used of them.
  int64_t Left(const void* session);
  void Spend(int64_t nanoseconds) { spent_ns_ += nanoseconds; }
  // Another one may get its address.
  void EndSession(const void* session);

 private:
  struct Entry {
    Entry* next;
    uint64_t key;
    Tuned tuned;
  };

  bool Take(Span<const uint8_t> file);

  lathe_allocator allocator_;
  MemoryArena memory_;
  uint64_t identity_ = 0;
  int64_t budget_ns_ = 0;  // of every session
  Lock turn_;
  const void* session_ = nullptr;  // the last one that tuned
  int64_t spent_ns_ = 0;
  Lock lock_;  // of what follows
  Entry* entries_ = nullptr;
  size_t count_ = 0;
};

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_TUNING_H_
