// The texts of device units: streams that come out as what they were made of, and streams that are damaged.
//
// LATHE_STREAMS names a folder of streams that the other side has made: <name>.stream, and in <name>.texts what they
// hold, each text with a 0 behind it.
#include "native/opencl/sources.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "native/opencl/unit.h"

namespace lathe::opencl {
namespace {

using Bytes = std::vector<uint8_t>;

struct Decoded {
  Code code;
  std::vector<std::string> texts;
};

// A copy of exactly that size on the heap, so that sanitizers see every read behind it.
Decoded Decode(const Bytes& bytes, size_t count) {
  const std::unique_ptr<uint8_t[]> stream(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), stream.get());
  MemoryArena arena(DefaultAllocator());
  Sources sources;
  Decoded decoded{sources.Decode({stream.get(), bytes.size()}, count, &arena), {}};
  if (decoded.code != Code::kOk) return decoded;
  decoded.texts.emplace_back(sources.common().begin(), sources.common().end());
  for (size_t unit = 0; unit + 1 < count; ++unit) {
    decoded.texts.emplace_back(sources.Of(unit).begin(), sources.Of(unit).end());
  }
  return decoded;
}

void AppendHash(const std::string& text, Bytes* bytes) {
  uint32_t hash = 0x811C9DC5u;
  for (char character : text) hash = (hash ^ static_cast<uint8_t>(character)) * 0x01000193u;
  for (int shift = 0; shift < 32; shift += 8) bytes->push_back(static_cast<uint8_t>(hash >> shift));
}

// "abc\n" and 153 characters that references of every kind make.
const std::vector<std::string>& Texts() {
  static const std::vector<std::string> texts = {"abc\n", "abc\na" + std::string(148, 'a')};
  return texts;
}

Bytes Stream() {
  Bytes bytes = {4, 0x80 | (153 & 0x7F), 153 >> 7};
  AppendHash(Texts()[0] + Texts()[1], &bytes);
  const Bytes body = {'a',  'b', 'c', 0x7F,       // as they are
                      0x80, 3,                    // 3 characters from 4 back
                      0x00,                       // 2 more
                      0xC0, 0,   0,               // 4 from 1 back
                      0xFE, 0,   1,   144 - 35};  // 144 from 2 back
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

Bytes Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

TEST(OpenClSources, ReferencesOfEveryKind) {
  const Decoded decoded = Decode(Stream(), 2);
  ASSERT_EQ(decoded.code, Code::kOk);
  EXPECT_EQ(decoded.texts, Texts());
}

TEST(OpenClSources, TextsOfALibrary) {
  const Bytes stream = Stream();
  constexpr Unit units[] = {{}};
  MemoryArena arena(DefaultAllocator());
  Sources sources;
  ASSERT_EQ(sources.Decode(Units{units, stream.data(), stream.size()}, &arena), Code::kOk);
  EXPECT_EQ(std::string(sources.Of(0).begin(), sources.Of(0).end()), Texts()[1]);
}

TEST(OpenClSources, EveryTruncationIsNoticed) {
  const Bytes whole = Stream();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(Decode(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)), 2).code, Code::kInternal);
  }
}

TEST(OpenClSources, EveryChangeOfAByteIsNoticed) {
  const Bytes whole = Stream();
  for (size_t place = 0; place < whole.size(); ++place) {
    for (int change = 1; change < 256; ++change) {
      Bytes damaged = whole;
      damaged[place] = static_cast<uint8_t>(damaged[place] ^ change);
      const Decoded decoded = Decode(damaged, 2);
      // What moves a border between two texts, or says the same in another way, cannot be seen.
      if (decoded.code != Code::kOk) continue;
      EXPECT_EQ(decoded.texts[0] + decoded.texts[1], Texts()[0] + Texts()[1]) << "byte " << place;
    }
  }
}

TEST(OpenClSources, LengthsBeyondAllTexts) {
  EXPECT_EQ(Decode({0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0, 'a'}, 1).code, Code::kInternal);
  EXPECT_EQ(Decode({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0, 'a'}, 1).code, Code::kInternal);
}

TEST(OpenClSources, MemoryThatIsOut) {
  const Bytes stream = Stream();
  MemoryArena arena({[](void*, size_t) -> void* { return nullptr; }, [](void*, void*) {}, nullptr});
  EXPECT_EQ(Sources().Decode({stream.data(), stream.size()}, 2, &arena), Code::kOutOfMemory);
}

struct Given {
  std::string name;
  Bytes stream;
  std::vector<std::string> texts;
};

std::vector<Given> StreamsOfTheOtherSide() {
  std::vector<Given> found;
  const char* folder = std::getenv("LATHE_STREAMS");
  DIR* listed = folder != nullptr ? opendir(folder) : nullptr;
  if (listed == nullptr) return found;
  while (const dirent* entry = readdir(listed)) {
    const std::string name = entry->d_name;
    if (name.size() < 7 || name.compare(name.size() - 7, 7, ".stream") != 0) continue;
    const std::string path = std::string(folder) + "/" + name.substr(0, name.size() - 7);
    Given given{name, Contents(path + ".stream"), {}};
    std::string text;
    for (uint8_t byte : Contents(path + ".texts")) {
      if (byte != 0) {
        text.push_back(static_cast<char>(byte));
      } else {
        given.texts.push_back(text);
        text.clear();
      }
    }
    found.push_back(given);
  }
  closedir(listed);
  return found;
}

TEST(OpenClSources, StreamsOfTheOtherSide) {
  if (std::getenv("LATHE_STREAMS") == nullptr) GTEST_SKIP() << "LATHE_STREAMS is not set";
  const std::vector<Given> all = StreamsOfTheOtherSide();
  EXPECT_FALSE(all.empty());
  for (const Given& given : all) {
    const Decoded decoded = Decode(given.stream, given.texts.size());
    ASSERT_EQ(decoded.code, Code::kOk) << given.name;
    EXPECT_EQ(decoded.texts, given.texts) << given.name;
  }
}

TEST(OpenClSources, DamagedStreamsOfTheOtherSide) {
  uint32_t random = 1;
  for (const Given& given : StreamsOfTheOtherSide()) {
    std::string whole;
    for (const std::string& text : given.texts) whole += text;
    for (int round = 0; round < 300; ++round) {
      random = random * 1664525u + 1013904223u;
      Bytes damaged = given.stream;
      damaged[(random >> 8) % damaged.size()] ^= static_cast<uint8_t>(1 + (random & 0x7F));
      std::string heard;
      const Decoded decoded = Decode(damaged, given.texts.size());
      for (const std::string& text : decoded.texts) heard += text;
      if (decoded.code == Code::kOk) {
        EXPECT_EQ(heard, whole) << given.name;
      }
    }
  }
}

}  // namespace
}  // namespace lathe::opencl
