// The OpenCL texts of a library, which it holds compressed in one stream.
//
// The stream: the length of each text as a little-endian number of 7 bits per byte (the top bit: another byte follows),
// common.cl first, then every unit in the order of the registry; then the texts behind each other, compressed. What
// buildtool/codegen/opencl.py writes and describes, this reads.
#ifndef LATHE_OPENCL_SOURCES_H_
#define LATHE_OPENCL_SOURCES_H_

#include <stddef.h>
#include <stdint.h>

#include "native/core/kernel.h"
#include "native/core/memory.h"
#include "native/core/span.h"

namespace lathe::opencl {

struct Units;

// The texts as long as the memory of the arena lives that they were decoded into.
class Sources {
 public:
  // kOutOfMemory, or kInternal where the stream is not one of these texts. Leaves no message.
  Code Decode(const Units& units, MemoryArena* arena);
  // The same for any stream of `count` texts.
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
