#include "native/runtime/planner.h"

#include "native/runtime/memory.h"

namespace lathe {

namespace {

// Writes the indices of the items in the order of a number of theirs, and of the index where that is equal. `flip`: all
// ones for the largest number first, else 0. In place and without recursion (libc's qsort may allocate).
void HeapSort(Span<const ArenaItem> items, uint64_t ArenaItem::* number, uint64_t flip, Span<uint32_t> order) {
  const auto less = [&](uint32_t a, uint32_t b) {
    const uint64_t left = items[a].*number ^ flip, right = items[b].*number ^ flip;
    return left != right ? left < right : a < b;
  };
  const auto sift = [&](size_t root, size_t size) {
    for (size_t child; (child = 2 * root + 1) < size; root = child) {
      if (child + 1 < size && less(order[child], order[child + 1])) ++child;
      if (!less(order[root], order[child])) return;
      const uint32_t swap = order[root];
      order[root] = order[child];
      order[child] = swap;
    }
  };
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  for (size_t i = order.size() / 2; i-- > 0;) sift(i, order.size());
  for (size_t size = order.size(); size-- > 1;) {
    const uint32_t swap = order[0];
    order[0] = order[size];
    order[size] = swap;
    sift(0, size);
  }
}

bool Overlap(const ArenaItem& a, const ArenaItem& b) { return a.first <= b.last && b.first <= a.last; }

// Whether it stands where another one does.
bool Follows(const ArenaItem& item) { return item.takes_over != kNoItem || item.inside != kNoItem; }

// Items that are taken over carry the lifetime and size of the whole chain during planning; the others of the chain
// follow. Chains point to smaller indices, so one pass from the end collects them.
void MergeChains(Span<ArenaItem> items) {
  for (size_t i = items.size(); i-- > 0;) {
    const ArenaItem& item = items[i];
    if (item.takes_over == kNoItem) continue;
    ArenaItem& head = items[item.takes_over];
    if (item.last > head.last) head.last = item.last;
    if (item.size > head.size) head.size = item.size;
  }
}

}  // namespace

uint64_t PlanArena(Span<ArenaItem> items, Span<uint32_t> order) {
  MergeChains(items);
  HeapSort(items, &ArenaItem::size, UINT64_MAX, order);
  uint64_t total = 0;
  uint32_t placed = kNoItem;  // head of the list by offset
  for (const uint32_t index : order) {
    ArenaItem& item = items[index];
    if (Follows(item)) continue;
    uint64_t end = 0, best_gap = UINT64_MAX, best_offset = 0;
    for (uint32_t other = placed; other != kNoItem; other = items[other].next) {
      if (!Overlap(item, items[other])) continue;
      const uint64_t gap = items[other].offset > end ? items[other].offset - end : 0;
      if (gap >= item.size && gap < best_gap) {
        best_gap = gap;
        best_offset = end;
      }
      const uint64_t other_end = items[other].offset + AlignUp(items[other].size);
      if (other_end > end) end = other_end;
    }
    item.offset = best_gap != UINT64_MAX ? best_offset : end;
    // Sums of what is placed stay far below 64 bits only if this holds at each step.
    if (item.size > kMaxBytes || item.offset > kMaxBytes - item.size) return UINT64_MAX;
    const uint64_t item_end = item.offset + AlignUp(item.size);
    if (item_end > total) total = item_end;
    uint32_t* link = &placed;
    while (*link != kNoItem && items[*link].offset <= item.offset) link = &items[*link].next;
    item.next = *link;
    *link = index;
  }
  for (ArenaItem& item : items) {
    if (item.takes_over != kNoItem) item.offset = items[item.takes_over].offset;
  }
  for (ArenaItem& item : items) {
    if (item.inside != kNoItem) item.offset = items[item.inside].offset + item.at;
  }
  return total <= kMaxBytes ? total : UINT64_MAX;
}

uint32_t CheckArena(Span<ArenaItem> items, Span<uint32_t> order) {
  for (size_t i = 0; i < items.size(); ++i) {
    const ArenaItem& item = items[i];
    if (item.takes_over != kNoItem && item.offset != items[item.takes_over].offset) return static_cast<uint32_t>(i);
    if (item.inside == kNoItem && item.offset % kAlignment != 0) return static_cast<uint32_t>(i);
  }
  MergeChains(items);
  HeapSort(items, &ArenaItem::offset, 0, order);
  for (size_t i = 0; i < order.size(); ++i) {
    const ArenaItem& item = items[order[i]];
    if (Follows(item)) continue;
    for (size_t j = i + 1; j < order.size() && items[order[j]].offset < item.offset + item.size; ++j) {
      const ArenaItem& other = items[order[j]];
      if (!Follows(other) && other.size > 0 && Overlap(item, other)) return order[j];
    }
  }
  return kNoItem;
}

}  // namespace lathe
