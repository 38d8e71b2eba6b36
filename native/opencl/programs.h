// The programs of an engine: each is built once, from a binary where there is one that fits and else from its text.
//
// A program is a unit's text behind common.cl, compiled with options. It is looked for
//   1. among those that the engine has already;
//   2. in the binaries that came with the application: files, and pieces of memory; then in those inside the library;
//   3. in the store, a file of earlier runs, where the application has named a folder for it;
//   4. and is else compiled, and put into the store by `Flush`.
// A binary that the driver refuses is as good as none.
#ifndef LATHE_OPENCL_PROGRAMS_H_
#define LATHE_OPENCL_PROGRAMS_H_

#include "lathe/c_api.h"
#include "native/opencl/cl.h"
#include "native/opencl/device.h"
#include "native/opencl/lock.h"
#include "native/opencl/sources.h"
#include "native/opencl/store.h"
#include "native/opencl/unit.h"
#include "native/runtime/kernel.h"
#include "native/runtime/memory.h"

namespace lathe::opencl {

struct ProgramSettings {
  const ClApi* api = nullptr;
  cl_context context = nullptr;  // of this one device
  const Device* device = nullptr;
  const Units* units = nullptr;
  const char* library = "";              // goes into the name of the store
  const char* storage_path = nullptr;    // the folder of the store; null or empty: there is none
  bool reuse = true;                     // false: every program is compiled; the store is written all the same
  Span<const char* const> binary_paths;  // files of the application, and memory with such a file; the former come first
  Span<const lathe_bytes> binaries;
};

struct ProgramStatistics {
  uint32_t compiled = 0;
  uint32_t from_binaries = 0;  // of the application
  uint32_t from_store = 0;
  uint32_t refused = 0;  // binaries that the driver did not take
  double compiled_ms = 0;
  double from_binaries_ms = 0;
  double from_store_ms = 0;
  double reading_ms = 0;  // of texts and files
};

// May be used by several threads at once.
class ProgramCache {
 public:
  explicit ProgramCache(const lathe_allocator& allocator)
      : allocator_(allocator), memory_(allocator), files_memory_(allocator) {}
  ~ProgramCache();
  ProgramCache(const ProgramCache&) = delete;
  ProgramCache& operator=(const ProgramCache&) = delete;

  // To be called once, before anything else. Reads no file; copies names, paths, and what memory holds of binaries that
  // fit. Functions, device and units have to stay as long as this object.
  Code Open(const ProgramSettings& settings, const Reporter& reporter);

  // The program of a unit by its place in `Units::units`; belongs to this object. kUnsupported where the driver cannot
  // compile, kInternal where it does not take the text.
  Code Get(size_t unit, const char* options, const Reporter& reporter, cl_program* program);

  // Wherever programs may have been made, an engine's creation above all: writes the store where something was
  // compiled, and gives back the memory of texts and files, which later programs read again.
  void Flush();

  // Why the store could not be written when that was last tried; empty where it could. Nothing else depends on that.
  const Reason& store_failure() const { return store_failure_; }

  // All programs of the engine as the bytes of a file that an application can bring along. False where memory is out,
  // or where the driver does not hand out a binary.
  bool SaveBinaries(MemoryArena* arena, Span<const uint8_t>* file);

  ProgramStatistics statistics();

  // Of the device, once it is open.
  uint64_t identity() const { return identity_; }

 private:
  enum class Origin : uint8_t { kCompiled, kBinaries, kStore };

  struct Program {
    Program* next;
    const char* options;
    size_t unit;
    uint64_t key;
    cl_program program;
    Origin origin;
  };

  Code Make(const Reporter& reporter, Program* made);
  Code ReadInputs(const Reporter& reporter);
  bool ReadTables();
  uint64_t KeyOf(const Program& program) const;
  bool FromBinaries(Program* made);
  cl_program FromBinary(Span<const uint8_t> binary, const char* options) const;
  Code Compile(const Reporter& reporter, Program* made) const;
  Code Refused(const Reporter& reporter, const Program& made, cl_int error) const;
  Span<const uint8_t> BinaryOf(cl_program program, MemoryArena* arena) const;
  void WriteChanged();

  lathe_allocator allocator_;
  MemoryArena memory_;        // of the programs' list and of what Open copies
  MemoryArena files_memory_;  // of texts and files, until the next Flush
  ProgramSettings settings_;
  uint64_t identity_ = 0;
  const char* store_path_ = nullptr;
  Lock lock_;

  Program* programs_ = nullptr;
  size_t program_count_ = 0;
  bool changed_ = false;  // something was compiled since the last Flush
  Reason store_failure_;

  bool inputs_read_ = false;
  Sources sources_;
  Span<BinaryTable> tables_;  // of the application's files, of its memory, of the library, and of the store
  ProgramStatistics statistics_;
};

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_PROGRAMS_H_
