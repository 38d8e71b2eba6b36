// Places buffers with known lifetimes into one arena.
#ifndef LATHE_RUNTIME_PLANNER_H_
#define LATHE_RUNTIME_PLANNER_H_

#include <stddef.h>
#include <stdint.h>

#include "native/runtime/span.h"

namespace lathe {

constexpr uint32_t kNoItem = UINT32_MAX;

// One buffer. `first` and `last` are steps, both inclusive: two items that share a step must not share memory, unless
// one takes over the other.
struct ArenaItem {
  uint32_t first;
  uint32_t last;
  uint64_t size;
  uint32_t takes_over;  // the item whose memory this one continues (it has a smaller index and ends where this begins)
  uint64_t offset;      // result, a multiple of 64
  uint32_t next;        // workspace: list of placed items by offset
  uint32_t inside;      // the item that this one is a part of; that one lives as long as all of its parts
  uint64_t at;          // byte of it
};

// Where a value would stand if it were part of another one.
struct PartOf {
  uint32_t whole;  // value; kNoItem: of none
  int64_t at;      // element
};

// Greedy by size: the largest buffer first, each at the smallest gap that fits. `order` is workspace of the same size
// as `items`. Returns the size of the arena; UINT64_MAX where that exceeds kMaxBytes.
uint64_t PlanArena(Span<ArenaItem> items, Span<uint32_t> order);

// Whether the offsets that the items have are a valid plan: the index of the first item that is not where it may be, or
// kNoItem. `order` as above.
uint32_t CheckArena(Span<ArenaItem> items, Span<uint32_t> order);

}  // namespace lathe

#endif  // LATHE_RUNTIME_PLANNER_H_
