#include "native/opencl/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace lathe::opencl {

namespace {

constexpr char kMagics[][9] = {"LatheOCL", "LatheTun"};  // by Content
constexpr size_t kMagicSize = 8;
constexpr uint32_t kVersion = 1;
constexpr size_t kChecked = 32;  // of the header, by its own checksum
constexpr size_t kHeader = 40;
constexpr size_t kEntry = 32;

// Files that others left behind when they were stopped in the middle of writing them.
constexpr int kMaxNames = 100;

// Byte by byte, so that neither the alignment of embedded files nor the order of a machine's bytes matters.
uint64_t Load(const uint8_t* bytes, int size) {
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

uint8_t* Store(uint8_t* bytes, int size, uint64_t value) {
  for (int i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  return bytes + size;
}

uint64_t Checksum(const uint8_t* bytes, size_t size) { return Hash().Add(bytes, size).value(); }

// Of the header and `count` entries.
uint64_t TableChecksum(const uint8_t* file, size_t count) {
  return Hash().Add(file, kChecked).Add(file + kHeader, count * kEntry).value();
}

// 0, or the number of an error.
int WriteAll(int file, Span<const uint8_t> bytes) {
  for (size_t written = 0; written < bytes.size();) {
    const ssize_t now = write(file, bytes.data() + written, bytes.size() - written);
    if (now == 0) return EIO;
    if (now < 0 && errno != EINTR) return errno;
    if (now > 0) written += static_cast<size_t>(now);
  }
  return 0;
}

// Insertion: a file has some dozens of binaries, most of which come in order.
void Sort(Span<Binary> binaries) {
  for (size_t i = 1; i < binaries.size(); ++i) {
    const Binary moved = binaries[i];
    size_t to = i;
    for (; to > 0 && binaries[to - 1].key > moved.key; --to) binaries[to] = binaries[to - 1];
    binaries[to] = moved;
  }
}

}  // namespace

Hash& Hash::Add(const void* bytes, size_t size) {
  const auto* byte = static_cast<const uint8_t*>(bytes);
  uint64_t value = value_;
  for (size_t i = 0; i < size; ++i) value = (value ^ byte[i]) * 0x100000001b3u;
  value_ = value;
  return *this;
}

Hash& Hash::AddText(const char* text) { return Add(text, strlen(text) + 1); }

uint64_t DeviceIdentity(const char* device, const char* driver, const char* platform) {
  return Hash().AddText(device).AddText(driver).AddText(platform).value();
}

BinaryTable::Found BinaryTable::Open(Span<const uint8_t> file, uint64_t identity, Content content) {
  *this = BinaryTable();
  if (file.empty() || file.size() > kMaxStoreBytes) return Found::kBroken;
  Found result = Found::kForeign;
  while (!file.empty()) {
    BinaryTable table;
    size_t size = 0;
    const Found found = table.OpenFirst(file, identity, content, &size);
    if (found == Found::kBroken) {
      *this = BinaryTable();
      return found;
    }
    if (found == Found::kFits && result != Found::kFits) {
      *this = table;
      result = found;
    }
    if (size == 0) break;
    file = file.subspan(size, file.size() - size);
  }
  return result;
}

BinaryTable::Found BinaryTable::OpenFirst(Span<const uint8_t> file, uint64_t identity, Content content, size_t* size) {
  *size = 0;
  const uint8_t* header = file.data();
  if (file.size() < kHeader || memcmp(header, kMagics[static_cast<size_t>(content)], kMagicSize) != 0)
    return Found::kBroken;
  // Where the version is another, what follows may mean anything.
  if (Load(header + 8, 4) != kVersion) return Found::kForeign;
  const uint64_t count = Load(header + 12, 4), whole = Load(header + 24, 8);
  if (count > kMaxBinaries || whole < kHeader || whole > file.size()) return Found::kBroken;
  if (count * kEntry > whole - kHeader) return Found::kBroken;
  if (Load(header + 32, 8) != TableChecksum(header, static_cast<size_t>(count))) return Found::kBroken;
  *size = static_cast<size_t>(whole);
  if (Load(header + 16, 8) != identity) return Found::kForeign;
  uint64_t end = kHeader + count * kEntry, last_key = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* entry = header + kHeader + i * kEntry;
    const uint64_t key = Load(entry, 8), length = Load(entry + 16, 8);
    if (i > 0 && key <= last_key) return Found::kBroken;
    if (Load(entry + 8, 8) != end || length == 0 || length > whole - end) return Found::kBroken;
    last_key = key;
    end += length;
  }
  if (end != whole) return Found::kBroken;
  file_ = file.subspan(0, *size);
  count_ = static_cast<size_t>(count);
  return Found::kFits;
}

const uint8_t* BinaryTable::EntryAt(size_t index) const { return file_.data() + kHeader + index * kEntry; }

Binary BinaryTable::At(size_t index) const {
  const uint8_t* entry = EntryAt(index);
  const Span<const uint8_t> bytes =
      file_.subspan(static_cast<size_t>(Load(entry + 8, 8)), static_cast<size_t>(Load(entry + 16, 8)));
  const bool whole = Checksum(bytes.data(), bytes.size()) == Load(entry + 24, 8);
  return {Load(entry, 8), whole ? bytes : Span<const uint8_t>()};
}

Span<const uint8_t> BinaryTable::Find(uint64_t key) const {
  size_t begin = 0, end = count_;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const uint64_t there = Load(EntryAt(middle), 8);
    if (there == key) return At(middle).bytes;
    if (there < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return {};
}

Span<const uint8_t> Pack(Span<Binary> binaries, uint64_t identity, MemoryArena* arena, Content content) {
  if (binaries.size() > kMaxBinaries) return {};
  uint64_t size = kHeader + binaries.size() * kEntry;
  for (const Binary& binary : binaries) {
    if (binary.bytes.size() > kMaxStoreBytes - size) return {};
    size += binary.bytes.size();
  }
  auto* file = static_cast<uint8_t*>(arena->Allocate(static_cast<size_t>(size)));
  if (file == nullptr) return {};
  Sort(binaries);
  memcpy(file, kMagics[static_cast<size_t>(content)], kMagicSize);
  Store(file + 8, 4, kVersion);
  Store(file + 12, 4, binaries.size());
  Store(file + 16, 8, identity);
  Store(file + 24, 8, size);
  uint8_t* entry = file + kHeader;
  size_t end = kHeader + binaries.size() * kEntry;
  for (const Binary& binary : binaries) {
    entry = Store(entry, 8, binary.key);
    entry = Store(entry, 8, end);
    entry = Store(entry, 8, binary.bytes.size());
    entry = Store(entry, 8, Checksum(binary.bytes.data(), binary.bytes.size()));
    memcpy(file + end, binary.bytes.data(), binary.bytes.size());
    end += binary.bytes.size();
  }
  Store(file + 32, 8, TableChecksum(file, binaries.size()));
  return Span<const uint8_t>(file, end);
}

// The size comes from lseek: fstat has a symbol version that old systems lack. Opening must not wait for a pipe.
Span<const uint8_t> ReadStore(const char* path, MemoryArena* arena) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  const off_t end = lseek(file, 0, SEEK_END);
  const bool fits = end > 0 && static_cast<uint64_t>(end) <= kMaxStoreBytes;
  const size_t size = fits ? static_cast<size_t>(end) : 0;
  auto* bytes = fits ? static_cast<uint8_t*>(arena->Allocate(size)) : nullptr;
  size_t have = 0;
  while (bytes != nullptr && have < size) {
    const ssize_t now = pread(file, bytes + have, size - have, static_cast<off_t>(have));
    if (now == 0 || (now < 0 && errno != EINTR)) break;
    if (now > 0) have += static_cast<size_t>(now);
  }
  close(file);
  return have == size ? Span<const uint8_t>(bytes, size) : Span<const uint8_t>();
}

Code WriteStore(const char* path, Span<const uint8_t> bytes, Reason* reason) {
  char aside[4096];
  int file = -1;
  for (int name = 0; file < 0 && name < kMaxNames; ++name) {
    const int length = snprintf(aside, sizeof(aside), "%s.%ld.%d", path, static_cast<long>(getpid()), name);
    if (length < 0 || static_cast<size_t>(length) >= sizeof(aside))
      return reason->Fail(Code::kIo, "the path of the store of OpenCL programs is too long");
    file = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) return reason->Fail(Code::kIo, "cannot write '%s': %s", aside, strerror(errno));
  int failure = WriteAll(file, bytes);
  if (close(file) != 0 && failure == 0) failure = errno;
  if (failure == 0 && rename(aside, path) != 0) failure = errno;
  if (failure == 0) return Code::kOk;
  unlink(aside);
  return reason->Fail(Code::kIo, "cannot write '%s': %s", path, strerror(failure));
}

}  // namespace lathe::opencl
