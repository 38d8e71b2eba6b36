// A file of program binaries, so that a program is compiled once for a device and driver instead of at every start; and
// one of what tuning found (tuning.h), which has the same form.
//
// All numbers are little-endian:
//    0  8 bytes  "LatheOCL", or "LatheTun" of tuning
//    8  uint32   the version of the format, 1
//   12  uint32   the number of entries
//   16  uint64   for which device and driver: DeviceIdentity
//   24  uint64   the size of all of this
//   32  uint64   the checksum of what stands before and of the entries
//   40  entries of four uint64 with rising keys: key, place in the file, length, checksum of the binary
//       the binaries in the order of the entries, without gaps
// Several of these, one behind the other, are a file for several devices: the first one that is for a device counts.
//
// A checksum is the 64-bit FNV-1a of the bytes; a key is one of the texts of a program and its options.
//
// A file is never changed in place: it is replaced by another as a whole, so that what a reader has opened stays what
// it is and several programs may write at once. What a file says is believed only as far as it has been checked; a file
// that breaks a rule is as good as none.
#ifndef LATHE_OPENCL_STORE_H_
#define LATHE_OPENCL_STORE_H_

#include <stddef.h>
#include <stdint.h>

#include "native/opencl/loader.h"
#include "native/runtime/kernel.h"
#include "native/runtime/memory.h"
#include "native/runtime/span.h"

namespace lathe::opencl {

constexpr uint32_t kMaxBinaries = 4096;
constexpr uint64_t kMaxStoreBytes = uint64_t{1} << 28;

// 64-bit FNV-1a.
class Hash {
 public:
  Hash& Add(const void* bytes, size_t size);
  // With the 0 at its end, which keeps two texts in a row apart.
  Hash& AddText(const char* text);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

// Binaries are of use to the device, driver and platform only that made them. The arguments are what OpenCL calls
// CL_DEVICE_NAME, CL_DRIVER_VERSION and CL_PLATFORM_VERSION.
uint64_t DeviceIdentity(const char* device, const char* driver, const char* platform);

enum class Content : uint8_t { kPrograms, kTuning };

struct Binary {
  uint64_t key;
  Span<const uint8_t> bytes;
};

// The binaries in the bytes of a file, which must outlive this.
class BinaryTable {
 public:
  enum class Found : uint8_t { kFits, kForeign, kBroken };

  // Anything but kFits leaves the table empty. kForeign: made for another device or driver, or by another version of
  // Lathe. The binaries themselves are checked when they are asked for.
  Found Open(Span<const uint8_t> file, uint64_t identity, Content content = Content::kPrograms);

  size_t size() const { return count_; }
  // No bytes where they are not those that were written.
  Binary At(size_t index) const;
  // No bytes where there is none.
  Span<const uint8_t> Find(uint64_t key) const;

 private:
  // What stands first in `file`; `size` is how far it goes, where that can be known, else 0.
  Found OpenFirst(Span<const uint8_t> file, uint64_t identity, Content content, size_t* size);
  const uint8_t* EntryAt(size_t index) const;

  Span<const uint8_t> file_;
  size_t count_ = 0;
};

// The bytes of a file with these binaries, each of another key; sorts them. None where memory is out, or where there is
// more than a file may hold.
Span<const uint8_t> Pack(Span<Binary> binaries, uint64_t identity, MemoryArena* arena,
                         Content content = Content::kPrograms);

// The bytes of a whole file: none where it cannot be read, is too large to be a store, or memory is out. They are read
// rather than mapped: nothing that others do to the file can pull them away.
Span<const uint8_t> ReadStore(const char* path, MemoryArena* arena);

// Writes a file aside and renames it. kOk or kIo.
Code WriteStore(const char* path, Span<const uint8_t> bytes, Reason* reason);

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_STORE_H_
