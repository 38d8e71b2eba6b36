#include "native/opencl/sources.h"

#include "native/opencl/unit.h"

namespace lathe::opencl {

namespace {

// Larger streams are not of this kind: nobody writes that much OpenCL.
constexpr size_t kMostText = size_t{1} << 24;

class Decoder {
 public:
  explicit Decoder(Span<const uint8_t> stream) : stream_(stream) {}

  // Behind the end there are zeros, and `ended` says so.
  uint32_t Take() {
    if (at_ < stream_.size()) return stream_[at_++];
    ended_ = true;
    return 0;
  }
  uint32_t TakeTwo() {
    const uint32_t high = Take();
    return high << 8 | Take();
  }
  size_t TakeLength() {
    size_t length = 0;
    for (int shift = 0; shift < 28; shift += 7) {
      const uint32_t byte = Take();
      length |= size_t{byte & 0x7F} << shift;
      if (byte < 0x80) return length;
    }
    ended_ = true;
    return 0;
  }

  // Writes the whole text; false where the rest of the stream is not exactly that.
  bool Expand(Span<char> text) {
    size_t size = 0, back = 0;
    while (at_ < stream_.size()) {
      const uint32_t code = Take();
      if (code >= 0x20 && code < 0x80) {
        if (size == text.size()) return false;
        text[size++] = code == 0x7F ? '\n' : static_cast<char>(code);
        continue;
      }
      size_t length;
      if (code < 0x20) {
        length = 2 + code;
      } else if (code < 0xC0) {
        length = 3 + (code >> 2 & 15);
        back = 1 + ((code & 3) << 8 | Take());
      } else {
        length = 4 + (code >> 1 & 31);
        back = 1 + ((code & 1) << 16 | TakeTwo());
        if (length == 35) length += Take();
      }
      if (back == 0 || back > size || length > text.size() - size) return false;
      for (const size_t end = size + length; size < end; ++size) text[size] = text[size - back];
    }
    return size == text.size() && !ended_;
  }

  bool ended() const { return ended_; }

 private:
  Span<const uint8_t> stream_;
  size_t at_ = 0;
  bool ended_ = false;
};

uint32_t Fnv1a(Span<const char> text) {
  uint32_t hash = 0x811C9DC5u;
  for (char character : text) hash = (hash ^ static_cast<uint8_t>(character)) * 0x01000193u;
  return hash;
}

}  // namespace

Code Sources::Decode(const Units& units, MemoryArena* arena) {
  return Decode({units.sources, units.sources_size}, units.units.size() + 1, arena);
}

Code Sources::Decode(Span<const uint8_t> stream, size_t count, MemoryArena* arena) {
  Decoder decoder(stream);
  Span<Span<const char>> texts;
  if (!arena->NewArray(count, &texts)) return Code::kOutOfMemory;
  size_t total = 0;
  for (Span<const char>& text : texts) {
    text = {nullptr, decoder.TakeLength()};
    total += text.size();
    if (total > kMostText) return Code::kInternal;
  }
  uint32_t hash = 0;
  for (int shift = 0; shift < 32; shift += 8) hash |= decoder.Take() << shift;
  if (decoder.ended()) return Code::kInternal;
  Span<char> all;
  if (!arena->NewArray(total, &all)) return Code::kOutOfMemory;
  if (!decoder.Expand(all) || Fnv1a(all) != hash) return Code::kInternal;
  const char* start = all.data();
  for (Span<const char>& text : texts) {
    text = {start, text.size()};
    start += text.size();
  }
  texts_ = texts;
  return Code::kOk;
}

}  // namespace lathe::opencl
