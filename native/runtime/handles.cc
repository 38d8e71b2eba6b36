#include "native/runtime/handles.h"

namespace lathe {

namespace {

struct Entry {
  void* object;         // null: the entry is free
  uint32_t generation;  // of the next object; that of the current one while there is one
  uint32_t kind;
};

// A handle is the generation, then the entry, counted from 1 in this many bits: it is never null.
constexpr uint32_t kIndexBits = 12;
constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
constexpr uint32_t kGenerations = UINTPTR_MAX >> kIndexBits < UINT32_MAX ? UINTPTR_MAX >> kIndexBits : UINT32_MAX;

Entry entries[kMaxHandles];
uint32_t next = 0;  // where the search for a free entry begins: entries are used in turn, so generations last

uint32_t Generation(const Entry& entry) { return __atomic_load_n(&entry.generation, __ATOMIC_SEQ_CST); }

// Null where the handle is none.
Entry* EntryOf(Kind kind, uintptr_t handle) {
  const auto place = static_cast<uint32_t>(handle & kIndexMask);
  if (place == 0) return nullptr;
  Entry* entry = &entries[place - 1];
  const bool fits = (Generation(*entry) & kGenerations) == handle >> kIndexBits;
  return fits && __atomic_load_n(&entry->kind, __ATOMIC_SEQ_CST) == static_cast<uint32_t>(kind) ? entry : nullptr;
}

}  // namespace

void* AddHandle(Kind kind, void* object) {
  for (uint32_t tries = 0; tries < kMaxHandles; ++tries) {
    const uint32_t place = __atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST) % kMaxHandles;
    Entry* entry = &entries[place];
    void* none = nullptr;
    if (!__atomic_compare_exchange_n(&entry->object, &none, object, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      continue;
    __atomic_store_n(&entry->kind, static_cast<uint32_t>(kind), __ATOMIC_SEQ_CST);
    const auto generation = static_cast<uintptr_t>(Generation(*entry) & kGenerations);
    return reinterpret_cast<void*>(generation << kIndexBits | (place + 1));
  }
  return nullptr;
}

void* FindHandle(Kind kind, const void* handle) {
  const Entry* entry = EntryOf(kind, reinterpret_cast<uintptr_t>(handle));
  return entry != nullptr ? __atomic_load_n(&entry->object, __ATOMIC_SEQ_CST) : nullptr;
}

void* TakeHandle(Kind kind, const void* handle) {
  Entry* entry = EntryOf(kind, reinterpret_cast<uintptr_t>(handle));
  if (entry == nullptr) return nullptr;
  uint32_t generation = Generation(*entry);
  const bool current = (generation & kGenerations) == reinterpret_cast<uintptr_t>(handle) >> kIndexBits;
  if (!current || !__atomic_compare_exchange_n(&entry->generation, &generation, generation + 1, false, __ATOMIC_SEQ_CST,
                                               __ATOMIC_SEQ_CST))
    return nullptr;
  // Only now may others have the entry.
  return __atomic_exchange_n(&entry->object, nullptr, __ATOMIC_SEQ_CST);
}

}  // namespace lathe
