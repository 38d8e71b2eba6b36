#include "native/opencl/tuning.h"

namespace lathe::opencl {

namespace {

constexpr int64_t kNanosecondsPerMillisecond = 1000000;
constexpr size_t kNumbers = 5;
constexpr size_t kTunedBytes = kNumbers * 4;

uint32_t LoadNumber(const uint8_t* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

uint8_t* StoreNumber(uint8_t* bytes, uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  return bytes + 4;
}

}  // namespace

Code Tuning::Open(uint64_t identity, const char* path, const lathe_bytes& bytes, Span<const uint8_t> library,
                  uint32_t milliseconds) {
  identity_ = identity;
  budget_ns_ = milliseconds * kNanosecondsPerMillisecond;
  MemoryArena files(allocator_);
  if (path != nullptr && path[0] != 0 && !Take(ReadStore(path, &files))) return Code::kOutOfMemory;
  const Span<const uint8_t> memory(static_cast<const uint8_t*>(bytes.data), bytes.size);
  return Take(memory) && Take(library) ? Code::kOk : Code::kOutOfMemory;
}

bool Tuning::Take(Span<const uint8_t> file) {
  BinaryTable table;
  if (table.Open(file, identity_, Content::kTuning) != BinaryTable::Found::kFits) return true;
  for (size_t i = 0; i < table.size(); ++i) {
    const Binary entry = table.At(i);
    Tuned tuned;
    if (entry.bytes.size() != kTunedBytes || Find(entry.key, &tuned)) continue;
    const uint8_t* numbers = entry.bytes.data();
    for (size_t axis = 0; axis < 3; ++axis) tuned.numbers[axis] = LoadNumber(numbers + axis * 4);
    tuned.usual_ns = LoadNumber(numbers + 12);
    tuned.best_ns = LoadNumber(numbers + 16);
    if (!Keep(entry.key, tuned)) return false;
  }
  return true;
}

bool Tuning::Find(uint64_t key, Tuned* tuned) {
  const Locked locked(&lock_);
  for (const Entry* entry = entries_; entry != nullptr; entry = entry->next) {
    if (entry->key != key) continue;
    *tuned = entry->tuned;
    return true;
  }
  return false;
}

bool Tuning::Keep(uint64_t key, const Tuned& tuned) {
  const Locked locked(&lock_);
  for (Entry* entry = entries_; entry != nullptr; entry = entry->next) {
    if (entry->key != key) continue;
    entry->tuned = tuned;
    return true;
  }
  auto* made = static_cast<Entry*>(memory_.Allocate(sizeof(Entry), alignof(Entry)));
  if (made == nullptr) return false;
  *made = {entries_, key, tuned};
  entries_ = made;
  ++count_;
  return true;
}

bool Tuning::Save(MemoryArena* arena, Span<const uint8_t>* file) {
  const Locked locked(&lock_);
  *file = {};
  if (count_ == 0) return true;
  Span<Binary> binaries;
  if (!arena->NewArray(count_, &binaries)) return false;
  size_t filled = 0;
  for (const Entry* entry = entries_; entry != nullptr; entry = entry->next) {
    auto* bytes = static_cast<uint8_t*>(arena->Allocate(kTunedBytes));
    if (bytes == nullptr) return false;
    binaries[filled++] = {entry->key, {bytes, kTunedBytes}};
    for (const uint32_t number : entry->tuned.numbers) bytes = StoreNumber(bytes, number);
    StoreNumber(StoreNumber(bytes, entry->tuned.usual_ns), entry->tuned.best_ns);
  }
  *file = Pack(binaries, identity_, arena, Content::kTuning);
  return !file->empty();
}

int64_t Tuning::Left(const void* session) {
  if (session != session_) spent_ns_ = 0;
  session_ = session;
  return budget_ns_ > spent_ns_ ? budget_ns_ - spent_ns_ : 0;
}

void Tuning::EndSession(const void* session) {
  const Locked locked(&turn_);
  if (session == session_) session_ = nullptr;
}

}  // namespace lathe::opencl
