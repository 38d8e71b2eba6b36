// The file of program binaries: whatever is in it, only what was written into it comes out.
#include "native/opencl/store.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "native/opencl/tuning.h"
#include "native/tests/opencl_fixture.h"

namespace lathe_test {
namespace {

using lathe::Code;
using lathe::MemoryArena;
using lathe::Span;
using lathe::opencl::Binary;
using lathe::opencl::BinaryTable;
using lathe::opencl::Content;
using lathe::opencl::DeviceIdentity;
using lathe::opencl::Reason;
using lathe::opencl::Tuned;
using lathe::opencl::Tuning;
using Found = BinaryTable::Found;

constexpr uint64_t kIdentity = 0x1234567890abcdef;

using Bytes = std::vector<uint8_t>;

Span<const uint8_t> View(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }
Bytes Copy(Span<const uint8_t> bytes) { return Bytes(bytes.begin(), bytes.end()); }

struct Entry {
  uint64_t key;
  Bytes bytes;
};

const std::vector<Entry>& SomeEntries() {
  static const std::vector<Entry> entries = {{7, {1, 2, 3}}, {~uint64_t{0}, Bytes(100, 9)}, {1, {0}}, {1u << 31, {5}}};
  return entries;
}

Bytes Packed(const std::vector<Entry>& entries, uint64_t identity = kIdentity, Content content = Content::kPrograms) {
  MemoryArena arena(lathe::DefaultAllocator());
  std::vector<Binary> binaries;
  for (const Entry& entry : entries) binaries.push_back({entry.key, View(entry.bytes)});
  return Copy(lathe::opencl::Pack({binaries.data(), binaries.size()}, identity, &arena, content));
}

// Files that break one rule need checksums that fit: this writes them as the header of store.h says.
struct Writer {
  static uint64_t Fnv(const Bytes& bytes) {
    uint64_t value = 14695981039346656037u;
    for (const uint8_t byte : bytes) value = (value ^ byte) * 1099511628211u;
    return value;
  }
  static void Number(Bytes* bytes, uint64_t value, int size = 8) {
    for (int i = 0; i < size; ++i) bytes->push_back(static_cast<uint8_t>(value >> (8 * i)));
  }

  Bytes File() const {
    Bytes table;
    for (const std::vector<uint64_t>& entry : entries)
      for (const uint64_t number : entry) Number(&table, number);
    Bytes file = {'L', 'a', 't', 'h', 'e', 'O', 'C', 'L'};
    Number(&file, version, 4);
    Number(&file, count >= 0 ? static_cast<uint64_t>(count) : entries.size(), 4);
    Number(&file, kIdentity);
    Number(&file, static_cast<uint64_t>(static_cast<int64_t>(40 + table.size() + payload.size()) + wrong_size));
    Bytes checked = file;
    checked.insert(checked.end(), table.begin(), table.end());
    Number(&file, Fnv(checked));
    file.insert(file.end(), table.begin(), table.end());
    file.insert(file.end(), payload.begin(), payload.end());
    return file;
  }

  uint32_t version = 1;
  int64_t count = -1;
  int64_t wrong_size = 0;
  Bytes payload = {1, 2, 3, 4};
  // {1, 2, 3} and {4}.
  std::vector<std::vector<uint64_t>> entries = {{3, 104, 3, Fnv({1, 2, 3})}, {9, 107, 1, Fnv({4})}};
};

TEST(BinaryTable, FindsWhatWasPacked) {
  const Bytes file = Packed(SomeEntries());
  BinaryTable table;
  ASSERT_EQ(table.Open(View(file), kIdentity), Found::kFits);
  ASSERT_EQ(table.size(), SomeEntries().size());
  for (const Entry& entry : SomeEntries()) EXPECT_EQ(Copy(table.Find(entry.key)), entry.bytes);
  for (const uint64_t absent : {uint64_t{0}, uint64_t{2}, uint64_t{8}, ~uint64_t{1}})
    EXPECT_TRUE(table.Find(absent).empty()) << absent;
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LT(table.At(i - 1).key, table.At(i).key);
}

TEST(BinaryTable, OfNothingIsEmpty) {
  const Bytes file = Packed({});
  BinaryTable table;
  EXPECT_TRUE(table.Find(1).empty());
  ASSERT_EQ(table.Open(View(file), kIdentity), Found::kFits);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.Find(1).empty());
}

TEST(BinaryTable, IsReadAtAnyAddress) {
  const Bytes file = Packed(SomeEntries());
  for (size_t shift = 1; shift < 8; ++shift) {
    Bytes moved(shift, 0xff);
    moved.insert(moved.end(), file.begin(), file.end());
    BinaryTable table;
    ASSERT_EQ(table.Open({moved.data() + shift, file.size()}, kIdentity), Found::kFits);
    EXPECT_EQ(Copy(table.Find(7)), (Bytes{1, 2, 3}));
  }
}

TEST(BinaryTable, TakesNoFileThatIsCutOrExtended) {
  const Bytes file = Packed(SomeEntries());
  BinaryTable table;
  for (size_t size = 0; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(table.Open(View(cut), kIdentity), Found::kBroken) << size;
    EXPECT_EQ(table.size(), 0u);
  }
  Bytes longer = file;
  longer.push_back(0);
  EXPECT_EQ(table.Open(View(longer), kIdentity), Found::kBroken);
}

TEST(BinaryTable, NeverGivesWrongBytesWhereABitIsWrong) {
  const Bytes file = Packed(SomeEntries());
  size_t opened = 0;
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes wrong = file;
    wrong[bit / 8] = static_cast<uint8_t>(wrong[bit / 8] ^ (1 << bit % 8));
    BinaryTable table;
    if (table.Open(View(wrong), kIdentity) != Found::kFits) continue;
    ++opened;
    size_t lost = 0;
    for (const Entry& entry : SomeEntries()) {
      const Bytes found = Copy(table.Find(entry.key));
      if (found.empty()) {
        ++lost;
      } else {
        EXPECT_EQ(found, entry.bytes) << bit;
      }
    }
    EXPECT_EQ(lost, 1u) << bit;
  }
  EXPECT_EQ(opened, 8u * 105) << "only the binaries themselves are checked late";
}

TEST(BinaryTable, IsForOneDeviceAndDriver) {
  const Bytes file = Packed(SomeEntries());
  BinaryTable table;
  EXPECT_EQ(table.Open(View(file), kIdentity + 1), Found::kForeign);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(DeviceIdentity("a", "b", "c"), DeviceIdentity("a", "b", "c"));
  EXPECT_NE(DeviceIdentity("a", "b", "c"), DeviceIdentity("ab", "", "c"));
  EXPECT_NE(DeviceIdentity("a", "b", "c"), DeviceIdentity("a", "b", "d"));
}

TEST(BinaryTable, OfSeveralDevicesGivesWhatIsForThisOne) {
  const Bytes other = Packed({{7, {4, 4}}}, kIdentity + 1), own = Packed(SomeEntries()), last = Packed({{7, {5}}});
  Bytes file = other;
  for (const Bytes& more : {own, last}) file.insert(file.end(), more.begin(), more.end());
  BinaryTable table;
  ASSERT_EQ(table.Open(View(file), kIdentity), Found::kFits);
  EXPECT_EQ(table.size(), SomeEntries().size());
  EXPECT_EQ(Copy(table.Find(7)), (Bytes{1, 2, 3})) << "the first one counts";
  ASSERT_EQ(table.Open(View(file), kIdentity + 1), Found::kFits);
  EXPECT_EQ(Copy(table.Find(7)), (Bytes{4, 4}));
  EXPECT_EQ(table.Open(View(file), kIdentity + 2), Found::kForeign);
  for (size_t size = 0; size < file.size(); ++size) {
    const bool ends = size == other.size() || size == other.size() + own.size();
    const Bytes cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(table.Open(View(cut), kIdentity + 2), ends ? Found::kForeign : Found::kBroken) << size;
  }
}

TEST(Tuning, KeepsWhatWasFound) {
  Tuning tuning(lathe::DefaultAllocator());
  ASSERT_EQ(tuning.Open(kIdentity, nullptr, {}, {}, 5), Code::kOk);
  MemoryArena arena(lathe::DefaultAllocator());
  Span<const uint8_t> file;
  ASSERT_TRUE(tuning.Save(&arena, &file));
  EXPECT_TRUE(file.empty()) << "nothing is tuned";
  EXPECT_TRUE(tuning.Keep(7, {{1, 2, 3}, 40, 30}) && tuning.Keep(9, {{0, 0, 0}, 5, 5}) &&
              tuning.Keep(7, {{8, 4, 1}, 40, 20}));
  ASSERT_TRUE(tuning.Save(&arena, &file));
  BinaryTable table;
  EXPECT_EQ(table.Open(file, kIdentity), Found::kBroken) << "these are no programs";
  const Folder folder;
  folder.Write("tuned.bin", Copy(file));
  const Bytes older = Packed({{7, Bytes(20, 1)}, {8, Bytes(20, 1)}, {10, {1}}}, kIdentity, Content::kTuning);
  Tuning read(lathe::DefaultAllocator());
  ASSERT_EQ(read.Open(kIdentity, folder.path("tuned.bin").c_str(), {nullptr, 0}, View(older), 0), Code::kOk);
  Tuned tuned = {};
  ASSERT_TRUE(read.Find(7, &tuned));
  EXPECT_TRUE(tuned.numbers[0] == 8 && tuned.numbers[1] == 4 && tuned.usual_ns == 40 && tuned.best_ns == 20);
  EXPECT_TRUE(read.Find(8, &tuned) && tuned.best_ns == 0x01010101);
  EXPECT_FALSE(read.Find(10, &tuned)) << "too short to be an entry";
  Tuning foreign(lathe::DefaultAllocator());
  ASSERT_EQ(foreign.Open(kIdentity + 1, nullptr, {file.data(), file.size()}, {}, 0), Code::kOk);
  EXPECT_FALSE(foreign.Find(7, &tuned));
}

TEST(Tuning, HasATimeForEverySession) {
  Tuning tuning(lathe::DefaultAllocator());
  ASSERT_EQ(tuning.Open(kIdentity, nullptr, {}, {}, 5), Code::kOk);
  const int first = 0, second = 0;
  EXPECT_EQ(tuning.Left(&first), 5000000);
  tuning.Spend(4000000);
  EXPECT_EQ(tuning.Left(&first), 1000000);
  tuning.Spend(4000000);
  EXPECT_EQ(tuning.Left(&first), 0);
  EXPECT_EQ(tuning.Left(&second), 5000000);
  tuning.Spend(5000000);
  tuning.EndSession(&second);
  EXPECT_EQ(tuning.Left(&second), 5000000) << "another one at this address";
}

TEST(BinaryTable, TakesNoFileThatBreaksARule) {
  BinaryTable table;
  ASSERT_EQ(table.Open(View(Writer().File()), kIdentity), Found::kFits);
  const struct {
    const char* rule;
    std::function<void(Writer&)> break_it;
  } faults[] = {
      {"a key twice", [](Writer& w) { w.entries[1][0] = 3; }},
      {"falling keys", [](Writer& w) { w.entries[0][0] = 10; }},
      {"a binary without bytes", [](Writer& w) { w.entries[1][2] = 0; }},
      {"binaries over each other", [](Writer& w) { w.entries[1][1] = 106; }},
      {"a gap", [](Writer& w) { w.entries[1][1] = 108; }},
      {"a place behind the end", [](Writer& w) { w.entries[1][1] = ~uint64_t{0}; }},
      {"a length behind the end", [](Writer& w) { w.entries[1][2] = 2; }},
      {"a length that overflows", [](Writer& w) { w.entries[1][2] = ~uint64_t{0} - 50; }},
      {"bytes of no file", [](Writer& w) { w.payload.push_back(5); }},
      {"fewer entries than it says", [](Writer& w) { w.count = 3; }},
      {"more entries than it says", [](Writer& w) { w.count = 1; }},
      {"entries without end", [](Writer& w) { w.count = 0xffffffff; }},
      {"the size of another file", [](Writer& w) { w.wrong_size = 1; }},
  };
  for (const auto& fault : faults) {
    Writer writer;
    fault.break_it(writer);
    EXPECT_EQ(table.Open(View(writer.File()), kIdentity), Found::kBroken) << fault.rule;
    EXPECT_EQ(table.size(), 0u);
  }
  Writer newer;
  newer.version = 2;
  EXPECT_EQ(table.Open(View(newer.File()), kIdentity), Found::kForeign);
}

TEST(Pack, HoldsAsManyAsAReaderTakes) {
  std::vector<Entry> entries;
  for (uint64_t key = 0; key < lathe::opencl::kMaxBinaries; ++key) entries.push_back({key, {1}});
  BinaryTable table;
  const Bytes file = Packed(entries);
  EXPECT_EQ(table.Open(View(file), kIdentity), Found::kFits);
  entries.push_back({lathe::opencl::kMaxBinaries, {1}});
  EXPECT_TRUE(Packed(entries).empty());
}

TEST(Pack, IsNothingWhereMemoryIsOut) {
  FailingAllocator none(0);
  MemoryArena arena(none.functions());
  const Bytes bytes = {1};
  Binary binary = {1, View(bytes)};
  EXPECT_TRUE(lathe::opencl::Pack({&binary, 1}, kIdentity, &arena).empty());
}

TEST(StoreFile, IsReadAsItWasWritten) {
  const Folder folder;
  const std::string path = folder.path("store.bin");
  const Bytes file = Packed(SomeEntries());
  Reason reason;
  ASSERT_EQ(lathe::opencl::WriteStore(path.c_str(), View(file), &reason), Code::kOk) << reason.text();
  ASSERT_EQ(lathe::opencl::WriteStore(path.c_str(), View(file), &reason), Code::kOk) << reason.text();
  MemoryArena arena(lathe::DefaultAllocator());
  EXPECT_EQ(Copy(lathe::opencl::ReadStore(path.c_str(), &arena)), file);
  EXPECT_EQ(folder.Files(), std::vector<std::string>{"store.bin"});

  FailingAllocator none(0);
  MemoryArena poor(none.functions());
  EXPECT_TRUE(lathe::opencl::ReadStore(path.c_str(), &poor).empty());
}

TEST(StoreFile, IsNothingWhereItCannotBeRead) {
  const Folder folder;
  MemoryArena arena(lathe::DefaultAllocator());
  const std::string pipe = folder.path("pipe"), empty = folder.path("empty");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  folder.Write("empty", {});
  for (const std::string& path : {folder.path("absent"), folder.path(""), pipe, empty, std::string("/dev/zero")})
    EXPECT_TRUE(lathe::opencl::ReadStore(path.c_str(), &arena).empty()) << path;
}

TEST(StoreFile, SaysWhyItCannotBeWritten) {
  const Folder folder;
  const Bytes file = {1, 2};
  Reason reason;
  const std::string absent = folder.path("absent/store.bin");
  EXPECT_EQ(lathe::opencl::WriteStore(absent.c_str(), View(file), &reason), Code::kIo);
  EXPECT_NE(std::string(reason.text()).find("No such file"), std::string::npos) << reason.text();
  const std::string taken = folder.path("taken");
  ASSERT_EQ(mkdir(taken.c_str(), 0700), 0);
  EXPECT_EQ(lathe::opencl::WriteStore(taken.c_str(), View(file), &reason), Code::kIo);
  EXPECT_NE(std::string(reason.text()).find("directory"), std::string::npos) << reason.text();
  EXPECT_EQ(folder.Files(), std::vector<std::string>{"taken"}) << "nothing is left aside";
  const std::string endless(5000, 'x');
  EXPECT_EQ(lathe::opencl::WriteStore(endless.c_str(), View(file), &reason), Code::kIo);
  EXPECT_EQ(lathe::opencl::WriteStore("/dev/full/store.bin", View(file), &reason), Code::kIo);
}

TEST(StoreFile, StepsAroundWhatAStoppedWriterLeft) {
  const Folder folder;
  Reason reason;
  const std::string left = "store.bin." + std::to_string(getpid()) + ".0";
  folder.Write(left, {9});
  const Bytes file = Packed(SomeEntries());
  ASSERT_EQ(lathe::opencl::WriteStore(folder.path("store.bin").c_str(), View(file), &reason), Code::kOk);
  MemoryArena arena(lathe::DefaultAllocator());
  EXPECT_EQ(Copy(lathe::opencl::ReadStore(folder.path("store.bin").c_str(), &arena)), file);
  EXPECT_EQ(Copy(lathe::opencl::ReadStore(folder.path(left).c_str(), &arena)), Bytes{9});
}

// Each writes its own file over and over.
void WriteOften(const std::string& path, uint64_t writer) {
  Reason reason;
  const Bytes file = Packed({{writer, Bytes(50000 + 1000 * static_cast<size_t>(writer), 7)}});
  for (int i = 0; i < 30; ++i)
    if (lathe::opencl::WriteStore(path.c_str(), View(file), &reason) != Code::kOk) _exit(1);
  _exit(0);
}

TEST(StoreFile, IsWholeAtAnyTimeWhileManyWriteIt) {
  const Folder folder;
  const std::string path = folder.path("store.bin");
  std::vector<pid_t> writers;
  for (uint64_t writer = 1; writer <= 4; ++writer) {
    writers.push_back(fork());
    ASSERT_GE(writers.back(), 0);
    if (writers.back() == 0) WriteOften(path, writer);
  }
  size_t read = 0;
  for (const pid_t writer : writers) {
    int status = 0;
    while (waitpid(writer, &status, WNOHANG) == 0) {
      MemoryArena arena(lathe::DefaultAllocator());
      const Span<const uint8_t> file = lathe::opencl::ReadStore(path.c_str(), &arena);
      if (file.empty()) continue;
      BinaryTable table;
      ASSERT_EQ(table.Open(file, kIdentity), Found::kFits);
      ASSERT_EQ(table.At(0).bytes.size(), 50000 + 1000 * table.At(0).key);
      ++read;
    }
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_GT(read, 0u);
  EXPECT_EQ(folder.Files(), std::vector<std::string>{"store.bin"}) << "nothing is left aside";
}

}  // namespace
}  // namespace lathe_test
