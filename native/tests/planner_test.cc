#include "native/runtime/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace lathe_test {
namespace {

using lathe::ArenaItem;
using lathe::kNoItem;
using lathe::Span;

uint64_t Plan(std::vector<ArenaItem>* items) {
  std::vector<uint32_t> order(items->size());
  return lathe::PlanArena(Span<ArenaItem>(items->data(), items->size()), Span<uint32_t>(order.data(), order.size()));
}

uint32_t Check(std::vector<ArenaItem> items) {
  std::vector<uint32_t> order(items.size());
  return lathe::CheckArena(Span<ArenaItem>(items.data(), items.size()), Span<uint32_t>(order.data(), order.size()));
}

ArenaItem Item(uint32_t first, uint32_t last, uint64_t size, uint32_t takes_over = kNoItem, uint64_t offset = 0) {
  return {first, last, size, takes_over, offset, kNoItem, kNoItem, 0};
}

// By the definition: live at the same step, in the same bytes, and not of one chain.
bool Collide(const std::vector<ArenaItem>& items, size_t i, size_t j) {
  const auto root = [&](size_t index) {
    while (items[index].takes_over != kNoItem) index = items[index].takes_over;
    return index;
  };
  const ArenaItem &a = items[i], &b = items[j];
  return a.size > 0 && b.size > 0 && root(i) != root(j) && a.first <= b.last && b.first <= a.last &&
         a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

TEST(Planner, SharesMemoryOverTime) {
  std::vector<ArenaItem> items = {Item(0, 1, 100), Item(1, 2, 100), Item(2, 3, 100), Item(3, 4, 100)};
  EXPECT_EQ(Plan(&items), 256u);
  items = {Item(0, 9, 64), Item(1, 2, 128), Item(3, 4, 64), Item(4, 9, 64)};
  EXPECT_EQ(Plan(&items), 192u);
  items = {};
  EXPECT_EQ(Plan(&items), 0u);
}

TEST(Planner, FollowsChains) {
  std::vector<ArenaItem> items = {Item(0, 1, 64), Item(1, 2, 64, 0), Item(2, 5, 64, 1), Item(3, 5, 64)};
  EXPECT_EQ(Plan(&items), 128u);
  EXPECT_EQ(items[2].offset, items[0].offset);
  EXPECT_NE(items[3].offset, items[0].offset);
}

TEST(Planner, RefusesSizesBeyondMemory) {
  std::vector<ArenaItem> items = {Item(0, 1, PTRDIFF_MAX / 2), Item(0, 1, PTRDIFF_MAX / 2),
                                  Item(0, 1, PTRDIFF_MAX / 2)};
  EXPECT_EQ(Plan(&items), UINT64_MAX);
}

TEST(Planner, RandomPlansNeverOverlap) {
  std::mt19937 random(1);
  const auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<ArenaItem> items;
    const uint32_t count = pick(1, 60);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t first = pick(0, 30);
      items.push_back(Item(first, first + pick(0, 8), pick(0, 3) == 0 ? 0 : pick(1, 5000)));
      const uint32_t other = pick(0, i);
      const bool taken =
          std::any_of(items.begin(), items.end(), [&](const ArenaItem& x) { return x.takes_over == other; });
      if (other < i && pick(0, 2) == 0 && !taken) {
        const ArenaItem source = items[other];
        items[i] = Item(source.last, source.last + pick(0, 4), source.size, other);
      }
    }
    const std::vector<ArenaItem> wanted = items;
    const uint64_t total = Plan(&items);
    std::vector<ArenaItem> planned = wanted;
    for (size_t i = 0; i < items.size(); ++i) {
      planned[i].offset = items[i].offset;
      EXPECT_EQ(items[i].offset % 64, 0u);
      EXPECT_LE(items[i].offset + items[i].size, total);
      for (size_t j = 0; j < i; ++j) EXPECT_FALSE(Collide(planned, i, j)) << round << ": " << i << " and " << j;
    }
    EXPECT_EQ(Check(planned), kNoItem) << round;
  }
}

TEST(Planner, CheckFindsEveryCollision) {
  std::mt19937 random(2);
  const auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  int colliding = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<ArenaItem> items;
    for (uint32_t i = pick(1, 6); i > 0; --i) {
      const uint32_t first = pick(0, 10);
      items.push_back(Item(first, first + pick(0, 3), pick(1, 200), kNoItem, 64 * pick(0, 12)));
    }
    bool collides = false;
    for (size_t i = 0; i < items.size(); ++i) {
      for (size_t j = 0; j < i; ++j) collides = collides || Collide(items, i, j);
    }
    colliding += collides;
    EXPECT_EQ(Check(items) != kNoItem, collides) << round;
  }
  EXPECT_GT(colliding, 100);
}

}  // namespace
}  // namespace lathe_test
