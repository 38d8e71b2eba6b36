// The OpenCL texts of a library, which it holds compressed in one stream:
//
//   the length of each text, 7 bits per byte, the low ones first, with 0x80 in all bytes but the last of a number:
//   that of common.cl first, then those of the units in the order of the registry
//   4 bytes, the low one first: FNV-1a of all texts behind each other
//   all texts behind each other, compressed: each profits from those before. buildtool/codegen/lz.py says how.
#ifndef LATHE_OPENCL_SOURCES_H_
#define LATHE_OPENCL_SOURCES_H_

#include <stddef.h>
#include <stdint.h>

#include "native/runtime/kernel.h"
#include "native/runtime/memory.h"
#include "native/runtime/span.h"

namespace lathe::opencl {

struct Units;

// The texts as long as the memory of the arena lives that they were decoded into.
class Sources {
 public:
  // kOutOfMemory, or kInternal where the stream is damaged. Leaves no message.
  Code Decode(const Units& units, MemoryArena* arena);
  // The same of any stream of `count` texts.
  Code Decode(Span<const uint8_t> stream, size_t count, MemoryArena* arena);

  // Neither ends with a 0. What stands before the text of every unit.
  Span<const char> common() const { return texts_[0]; }
  // Of a unit by its place in `Units::units`.
  Span<const char> Of(size_t unit) const { return texts_[unit + 1]; }

 private:
  Span<Span<const char>> texts_;
};

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_SOURCES_H_
