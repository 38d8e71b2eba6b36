// Loads a program for the DSP, a shared object, as the DSP's own loader does: segments, relocations, initialisers. The
// file is hostile until checked: offsets and sizes are compared with what was read.
#include <string.h>

#include "native/hexagon/simulator/dsp/system.h"

namespace lathe {
namespace hexagon {

namespace {

struct FileHeader {
  uint8_t magic[4], kind, order, rest[10];
  uint16_t type, machine;
  uint32_t version, entry, segments, sections, flags;
  uint16_t size, segment_size, segment_count, section_size, section_count, names;
};
struct Segment {
  uint32_t type, offset, address, physical, file_size, memory_size, flags, alignment;
};
struct Symbol {
  uint32_t name, value, size;
  uint8_t info, other;
  uint16_t section;
};
struct Relocation {
  uint32_t offset, info;
  int32_t addend;
};
struct Dynamic {
  uint32_t tag, value;
};

constexpr uint16_t kShared = 3, kHexagon = 164;
constexpr uint32_t kLoad = 1, kDynamic = 2;
constexpr uint32_t kPage = 4096;
enum Tag : uint32_t {
  kJumpSize = 2,
  kHash = 4,
  kStrings = 5,
  kSymbols = 6,
  kRelocations = 7,
  kRelocationSize = 8,
  kStringSize = 10,
  kJumps = 23,
  kInitialisers = 25,
  kInitialisersSize = 27,
  kTags = 32
};
enum Kind : uint32_t { kWord = 6, kGlobal = 33, kJump = 34, kRelative = 35 };

class Program {
 public:
  bool Load(const uint8_t* file, size_t size);
  uintptr_t Find(const char* name) const;
  void Initialise() const;

 private:
  bool Map(const uint8_t* file, size_t size);
  bool Relocate(uint32_t table, uint32_t bytes);
  bool Resolve(uint32_t symbol, uintptr_t* address) const;

  // `count` objects at an address of the program; null where they are not inside.
  template <typename T>
  T* At(uint32_t address, uint32_t count = 1) const {
    if (address > span_ || count > (span_ - address) / sizeof(T)) return nullptr;
    return reinterpret_cast<T*>(base_ + address);
  }
  const char* Name(const Symbol& symbol) const {
    return symbol.name < tags_[kStringSize] ? strings_ + symbol.name : "";
  }

  uint8_t* base_ = nullptr;
  uint32_t span_ = 0;
  uint32_t tags_[kTags] = {};
  const Symbol* symbols_ = nullptr;
  uint32_t symbol_count_ = 0;
  const char* strings_ = nullptr;
};

bool Program::Map(const uint8_t* file, size_t size) {
  FileHeader header;
  if (size < sizeof header) return false;
  memcpy(&header, file, sizeof header);
  constexpr uint8_t kMagic[] = {0x7f, 'E', 'L', 'F'};
  for (int i = 0; i < 4; ++i) {
    if (header.magic[i] != kMagic[i]) return false;
  }
  if (header.kind != 1 || header.type != kShared || header.machine != kHexagon) return false;
  const uint32_t count = header.segment_count;
  if (header.segments > size || count > (size - header.segments) / sizeof(Segment)) return false;
  Segment segments[16];
  if (count > sizeof segments / sizeof *segments) return false;
  memcpy(segments, file + header.segments, count * sizeof(Segment));
  for (uint32_t i = 0; i < count; ++i) {
    const Segment& segment = segments[i];
    if (segment.type != kLoad) continue;
    constexpr uint32_t kMost = 1u << 28;
    if (segment.file_size > segment.memory_size || segment.memory_size > kMost || segment.address > kMost) return false;
    if (segment.offset > size || segment.file_size > size - segment.offset) return false;
    const uint32_t end = segment.address + segment.memory_size;
    span_ = end > span_ ? end : span_;
  }
  span_ = (span_ + kPage - 1) & ~(kPage - 1);
  if (span_ == 0) return false;
  base_ = static_cast<uint8_t*>(MapMemory(span_));
  if (base_ == nullptr) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const Segment& segment = segments[i];
    if (segment.type == kLoad) memcpy(base_ + segment.address, file + segment.offset, segment.file_size);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (segments[i].type != kDynamic) continue;
    for (uint32_t at = 0; at < segments[i].memory_size / sizeof(Dynamic); ++at) {
      const Dynamic* entry = At<Dynamic>(segments[i].address + at * static_cast<uint32_t>(sizeof(Dynamic)));
      if (entry == nullptr || entry->tag == 0) break;
      if (entry->tag < kTags) tags_[entry->tag] = entry->value;
    }
    return true;
  }
  return false;
}

// A symbol of the program itself, else of the system; weak ones may be nowhere.
bool Program::Resolve(uint32_t number, uintptr_t* address) const {
  *address = 0;
  if (number >= symbol_count_) return false;
  const Symbol& symbol = symbols_[number];
  if (symbol.section != 0) {
    *address = reinterpret_cast<uintptr_t>(base_) + symbol.value;
    return true;
  }
  if (number == 0) return true;
  *address = SystemSymbol(Name(symbol));
  constexpr uint8_t kWeak = 2;
  if (*address != 0 || symbol.info >> 4 == kWeak) return true;
  Complain("the program needs '%s', which the DSP's system does not have", Name(symbol));
  return false;
}

bool Program::Relocate(uint32_t table, uint32_t bytes) {
  const uint32_t count = bytes / static_cast<uint32_t>(sizeof(Relocation));
  const Relocation* relocations = At<Relocation>(table, count);
  if (relocations == nullptr) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const Relocation& one = relocations[i];
    uint32_t* place = At<uint32_t>(one.offset);
    uintptr_t address = 0;
    if (place == nullptr) return false;
    switch (one.info & 0xff) {
      case kRelative:
        *place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(base_)) + static_cast<uint32_t>(one.addend);
        break;
      case kWord:
      case kGlobal:
      case kJump:
        if (!Resolve(one.info >> 8, &address)) return false;
        *place = static_cast<uint32_t>(address) + static_cast<uint32_t>(one.addend);
        break;
      default:
        Complain("the program has a relocation of kind %u", static_cast<unsigned>(one.info & 0xff));
        return false;
    }
  }
  return true;
}

bool Program::Load(const uint8_t* file, size_t size) {
  if (!Map(file, size)) return false;
  const uint32_t* hash = At<uint32_t>(tags_[kHash], 2);
  if (tags_[kHash] == 0 || hash == nullptr) return false;
  symbol_count_ = hash[1];
  symbols_ = At<Symbol>(tags_[kSymbols], symbol_count_);
  strings_ = At<char>(tags_[kStrings], tags_[kStringSize]);
  if (symbols_ == nullptr || strings_ == nullptr || tags_[kStringSize] == 0) return false;
  if (strings_[tags_[kStringSize] - 1] != 0) return false;
  return Relocate(tags_[kRelocations], tags_[kRelocationSize]) && Relocate(tags_[kJumps], tags_[kJumpSize]);
}

void Program::Initialise() const {
  const uint32_t count = tags_[kInitialisersSize] / 4;
  const uint32_t* table = At<uint32_t>(tags_[kInitialisers], count);
  for (uint32_t i = 0; table != nullptr && i < count; ++i) reinterpret_cast<void (*)()>(uintptr_t{table[i]})();
}

uintptr_t Program::Find(const char* name) const {
  for (uint32_t i = 1; i < symbol_count_; ++i) {
    if (symbols_[i].section != 0 && strcmp(Name(symbols_[i]), name) == 0)
      return reinterpret_cast<uintptr_t>(base_) + symbols_[i].value;
  }
  return 0;
}

}  // namespace

uintptr_t LoadProgram(const char* path, const char* entry) {
  const long file = OpenFile(path);
  const long size = file < 0 ? -1 : FileSize(static_cast<int>(file));
  uint8_t* bytes = size > 0 ? static_cast<uint8_t*>(MapMemory(static_cast<size_t>(size))) : nullptr;
  if (bytes == nullptr) {
    Complain("cannot read '%s'", path);
    return 0;
  }
  long got = 0;
  while (got < size) {
    const long more = Read(static_cast<int>(file), bytes + got, static_cast<size_t>(size - got));
    if (more <= 0) break;
    got += more;
  }
  CloseFile(static_cast<int>(file));
  static Program program;
  program = Program();
  const bool loaded = got == size && program.Load(bytes, static_cast<size_t>(size));
  UnmapMemory(bytes, static_cast<size_t>(size));
  if (!loaded) {
    Complain("'%s' is no program for the DSP, or cannot be loaded", path);
    return 0;
  }
  const uintptr_t address = program.Find(entry);
  if (address == 0) {
    Complain("'%s' has no '%s'", path, entry);
    return 0;
  }
  program.Initialise();
  return address;
}

}  // namespace hexagon
}  // namespace lathe
