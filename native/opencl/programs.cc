#include "native/opencl/programs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "native/opencl/loader.h"

namespace lathe::opencl {

namespace {

// What a store may grow to with programs that this engine does not need: those of other models of the library, and
// those of its former versions.
constexpr uint64_t kMaxKeptBytes = uint64_t{1} << 26;

double Now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

bool IsMemory(cl_int error) {
  return error == kClOutOfHostMemory || error == kClOutOfResources || error == kClMemObjectAllocationFailure;
}

// Binaries of different keys.
class BinaryList {
 public:
  bool Allocate(size_t capacity, MemoryArena* arena) { return arena->NewArray(capacity, &binaries_); }

  bool Has(uint64_t key) const {
    for (size_t i = 0; i < count_; ++i)
      if (binaries_[i].key == key) return true;
    return false;
  }
  void Add(const Binary& binary) {
    binaries_[count_++] = binary;
    bytes_ += binary.bytes.size();
  }

  Span<Binary> binaries() const { return binaries_.subspan(0, count_); }
  uint64_t bytes() const { return bytes_; }

 private:
  Span<Binary> binaries_;
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

// The message is one for all that programs need.
__attribute__((noinline, cold)) Code OutOfMemory(const Reporter& reporter) {
  return reporter.Fail(Code::kOutOfMemory, "out of memory for OpenCL programs");
}

const char* CopyText(const char* text, MemoryArena* memory) {
  return memory->CopyString({reinterpret_cast<const uint8_t*>(text), strlen(text)});
}

// A length of 0 would say that a text ends with a 0.
Span<const char> Filled(Span<const char> text) { return text.empty() ? Span<const char>("\n", 1) : text; }

// What a compiler says, from the first line on that speaks of an error, as one line.
void Summarise(const char* log, char (&summary)[301]) {
  const char* from = strstr(log, "error");
  while (from != nullptr && from != log && from[-1] != '\n') --from;
  size_t used = 0;
  bool gap = false;
  for (const char* at = from != nullptr ? from : log; *at != 0 && used + 2 < sizeof(summary); ++at) {
    const bool space = static_cast<unsigned char>(*at) <= ' ';
    if (!space && gap && used != 0) summary[used++] = ' ';
    if (!space) summary[used++] = *at;
    gap = space;
  }
  summary[used] = 0;
}

}  // namespace

ProgramCache::~ProgramCache() {
  for (const Program* made = programs_; made != nullptr; made = made->next)
    settings_.api->ReleaseProgram(made->program);
}

Code ProgramCache::Open(const ProgramSettings& settings, const Reporter& reporter) {
  settings_ = settings;
  char version[256] = "";
  const DeviceFacts& facts = settings.device->facts;
  if (settings.api->GetPlatformInfo(settings.device->platform, kClPlatformVersion, sizeof(version) - 1, version,
                                    nullptr) != kClSuccess)
    version[0] = 0;
  version[sizeof(version) - 1] = 0;
  identity_ = DeviceIdentity(facts.name, facts.driver_version, version);
  Span<const char*> paths;
  Span<lathe_bytes> binaries;
  if (!memory_.NewArray(settings.binary_paths.size(), &paths) || !memory_.NewArray(settings.binaries.size(), &binaries))
    return OutOfMemory(reporter);
  for (size_t i = 0; i < paths.size(); ++i) {
    paths[i] = CopyText(settings.binary_paths[i], &memory_);
    if (paths[i] == nullptr) return OutOfMemory(reporter);
  }
  for (size_t i = 0; i < binaries.size(); ++i) {
    const Span<const uint8_t> file(static_cast<const uint8_t*>(settings.binaries[i].data), settings.binaries[i].size);
    if (BinaryTable().Open(file, identity_) != BinaryTable::Found::kFits) continue;
    binaries[i] = {memory_.CopyString(file), file.size()};
    if (binaries[i].data == nullptr) return OutOfMemory(reporter);
  }
  settings_.binary_paths = paths;
  settings_.binaries = binaries;
  if (settings.storage_path == nullptr || settings.storage_path[0] == 0) return Code::kOk;
  constexpr char kFormat[] = "%s/lathe_opencl_%s.bin";
  const size_t size = strlen(settings.storage_path) + strlen(settings.library) + sizeof(kFormat);
  auto* path = static_cast<char*>(memory_.Allocate(size, 1));
  if (path == nullptr) return OutOfMemory(reporter);
  snprintf(path, size, kFormat, settings.storage_path, settings.library);
  store_path_ = path;
  return Code::kOk;
}

Code ProgramCache::Get(size_t unit, const char* options, const Reporter& reporter, cl_program* program) {
  const Locked locked(&lock_);
  for (const Program* made = programs_; made != nullptr; made = made->next) {
    if (made->unit != unit || strcmp(made->options, options) != 0) continue;
    *program = made->program;
    return Code::kOk;
  }
  if (unit >= settings_.units->units.size()) return reporter.Fail(Code::kInternal, "there is no OpenCL unit %zu", unit);
  auto* made = static_cast<Program*>(memory_.Allocate(sizeof(Program), alignof(Program)));
  const char* copy = CopyText(options, &memory_);
  if (made == nullptr || copy == nullptr) return OutOfMemory(reporter);
  made->unit = unit;
  made->options = copy;
  LATHE_TRY(Make(reporter, made));
  made->next = programs_;
  programs_ = made;
  ++program_count_;
  *program = made->program;
  return Code::kOk;
}

Code ProgramCache::Make(const Reporter& reporter, Program* made) {
  LATHE_TRY(ReadInputs(reporter));
  made->key = KeyOf(*made);
  if (FromBinaries(made)) return Code::kOk;
  const double start = Now();
  LATHE_TRY(Compile(reporter, made));
  made->origin = Origin::kCompiled;
  changed_ = true;
  ++statistics_.compiled;
  statistics_.compiled_ms += Now() - start;
  return Code::kOk;
}

Code ProgramCache::ReadInputs(const Reporter& reporter) {
  if (inputs_read_) return Code::kOk;
  const double start = Now();
  const Code code = sources_.Decode(*settings_.units, &files_memory_);
  if (code == Code::kOutOfMemory) return OutOfMemory(reporter);
  if (code != Code::kOk) return reporter.Fail(code, "the OpenCL programs in this library are damaged");
  if (settings_.reuse && !ReadTables()) return OutOfMemory(reporter);
  inputs_read_ = true;
  statistics_.reading_ms += Now() - start;
  return Code::kOk;
}

// False where memory is out for the tables themselves. A file that is too large for memory is as good as none.
bool ProgramCache::ReadTables() {
  const Span<const char* const> paths = settings_.binary_paths;
  const Span<const lathe_bytes> binaries = settings_.binaries;
  if (!files_memory_.NewArray(paths.size() + binaries.size() + 2, &tables_)) return false;
  BinaryTable* next = tables_.data();
  for (const char* path : paths) next++->Open(ReadStore(path, &files_memory_), identity_);
  for (const lathe_bytes& bytes : binaries)
    next++->Open({static_cast<const uint8_t*>(bytes.data), bytes.size}, identity_);
  next++->Open(settings_.units->programs, identity_);
  if (store_path_ != nullptr) next->Open(ReadStore(store_path_, &files_memory_), identity_);
  return true;
}

uint64_t ProgramCache::KeyOf(const Program& program) const {
  const Span<const char> common = sources_.common(), text = sources_.Of(program.unit);
  return Hash()
      .Add(common.data(), common.size())
      .AddText("")
      .Add(text.data(), text.size())
      .AddText("")
      .AddText(program.options)
      .value();
}

bool ProgramCache::FromBinaries(Program* made) {
  for (const BinaryTable& table : tables_) {
    const double start = Now();
    const Span<const uint8_t> binary = table.Find(made->key);
    if (binary.empty()) continue;
    made->program = FromBinary(binary, made->options);
    if (made->program == nullptr) {
      ++statistics_.refused;
      continue;
    }
    const bool of_store = &table == tables_.end() - 1;
    made->origin = of_store ? Origin::kStore : Origin::kBinaries;
    ++(of_store ? statistics_.from_store : statistics_.from_binaries);
    (of_store ? statistics_.from_store_ms : statistics_.from_binaries_ms) += Now() - start;
    return true;
  }
  return false;
}

cl_program ProgramCache::FromBinary(Span<const uint8_t> binary, const char* options) const {
  const ClApi& api = *settings_.api;
  const size_t size = binary.size();
  const unsigned char* bytes = binary.data();
  cl_int status = kClSuccess, error = kClSuccess;
  const cl_program program =
      api.CreateProgramWithBinary(settings_.context, 1, &settings_.device->id, &size, &bytes, &status, &error);
  if (program == nullptr) return nullptr;
  if (error == kClSuccess && status == kClSuccess &&
      api.BuildProgram(program, 1, &settings_.device->id, options, nullptr, nullptr) == kClSuccess)
    return program;
  api.ReleaseProgram(program);
  return nullptr;
}

Code ProgramCache::Compile(const Reporter& reporter, Program* made) const {
  const ClApi& api = *settings_.api;
  // Compilers then name the lines of the unit's own file.
  constexpr char kBehindCommon[] = "\n#line 1\n";
  const Span<const char> common = Filled(sources_.common()), own = sources_.Of(made->unit);
  const char* texts[] = {common.data(), kBehindCommon, own.data()};
  const size_t sizes[] = {common.size(), sizeof(kBehindCommon) - 1, own.size()};
  cl_int error = kClSuccess;
  made->program = api.CreateProgramWithSource(settings_.context, own.empty() ? 2 : 3, texts, sizes, &error);
  if (made->program != nullptr && error == kClSuccess)
    error = api.BuildProgram(made->program, 1, &settings_.device->id, made->options, nullptr, nullptr);
  if (made->program != nullptr && error == kClSuccess) return Code::kOk;
  const Code code = Refused(reporter, *made, error);
  if (made->program != nullptr) api.ReleaseProgram(made->program);
  return code;
}

Code ProgramCache::Refused(const Reporter& reporter, const Program& made, cl_int error) const {
  if (error == kClCompilerNotAvailable)
    return reporter.Fail(Code::kUnsupported, "the OpenCL driver has no compiler, and no binary of unit '%s' fits it",
                         settings_.units->units[made.unit].name);
  const ClApi& api = *settings_.api;
  const auto ask = [&](size_t room, char* text, size_t* needs) {
    return api.GetProgramBuildInfo(made.program, settings_.device->id, kClProgramBuildLog, room, text, needs) ==
           kClSuccess;
  };
  MemoryArena arena(allocator_);
  const char* log = "";
  size_t size = 0;
  if (made.program != nullptr && ask(0, nullptr, &size) && size < kMaxStoreBytes) {
    auto* text = static_cast<char*>(arena.Allocate(size + 1, 1));
    if (text != nullptr && ask(size, text, nullptr)) log = text;
  }
  char summary[301];
  Summarise(log, summary);
  return reporter.Fail(IsMemory(error) ? Code::kOutOfMemory : Code::kInternal,
                       "the OpenCL driver does not compile unit '%s' (%s) with '%.120s': %s",
                       settings_.units->units[made.unit].name, ErrorName(error), made.options,
                       summary[0] != 0 ? summary : "no reason given");
}

// None where the driver does not hand it out, or memory is out.
Span<const uint8_t> ProgramCache::BinaryOf(cl_program program, MemoryArena* arena) const {
  const ClApi& api = *settings_.api;
  size_t size = 0;
  if (api.GetProgramInfo(program, kClProgramBinarySizes, sizeof(size), &size, nullptr) != kClSuccess) return {};
  auto* bytes = size == 0 || size > kMaxStoreBytes ? nullptr : static_cast<unsigned char*>(arena->Allocate(size));
  if (bytes == nullptr) return {};
  if (api.GetProgramInfo(program, kClProgramBinaries, sizeof(bytes), &bytes, nullptr) != kClSuccess) return {};
  return {bytes, size};
}

void ProgramCache::Flush() {
  const Locked locked(&lock_);
  if (changed_ && store_path_ != nullptr) WriteChanged();
  changed_ = false;
  inputs_read_ = false;
  tables_ = {};
  sources_ = Sources();
  files_memory_.Clear();
}

// The file may have become another one since it was read: what others have written into it stays.
void ProgramCache::WriteChanged() {
  store_failure_ = Reason();
  MemoryArena arena(allocator_);
  BinaryTable store;
  store.Open(ReadStore(store_path_, &arena), identity_);
  BinaryList list;
  const bool enough = list.Allocate(program_count_ + store.size(), &arena);
  for (const Program* made = programs_; enough && made != nullptr; made = made->next) {
    if (made->origin == Origin::kBinaries || list.Has(made->key)) continue;
    Binary binary = {made->key, {}};
    if (made->origin == Origin::kStore) binary.bytes = store.Find(made->key);
    if (binary.bytes.empty()) binary.bytes = BinaryOf(made->program, &arena);
    if (!binary.bytes.empty()) list.Add(binary);
  }
  for (size_t i = 0; enough && i < store.size(); ++i) {
    const Binary other = store.At(i);
    if (!other.bytes.empty() && !list.Has(other.key) && list.bytes() + other.bytes.size() <= kMaxKeptBytes)
      list.Add(other);
  }
  if (enough && list.binaries().empty()) return;  // a driver that keeps them to itself
  const Span<const uint8_t> file = enough ? Pack(list.binaries(), identity_, &arena) : Span<const uint8_t>();
  if (!file.empty()) {
    WriteStore(store_path_, file, &store_failure_);
  } else {
    store_failure_.Fail(Code::kOutOfMemory, "out of memory, or too many OpenCL programs for '%s'", store_path_);
  }
}

bool ProgramCache::SaveBinaries(MemoryArena* arena, Span<const uint8_t>* file) {
  const Locked locked(&lock_);
  BinaryList list;
  if (!list.Allocate(program_count_, arena)) return false;
  for (const Program* made = programs_; made != nullptr; made = made->next) {
    if (list.Has(made->key)) continue;
    const Span<const uint8_t> bytes = BinaryOf(made->program, arena);
    if (bytes.empty()) return false;
    list.Add({made->key, bytes});
  }
  *file = Pack(list.binaries(), identity_, arena);
  return !file->empty();
}

ProgramStatistics ProgramCache::statistics() {
  const Locked locked(&lock_);
  return statistics_;
}

}  // namespace lathe::opencl
