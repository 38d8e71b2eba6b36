// What a device_region for the DSP has as its input: a head, and the container of the region as a model of its own.
// buildtool/targets/hexagon/parts.py writes it. The data of that model are the constants of the region's nodes, in the
// order in which the nodes read them, each at a multiple of 64 bytes; the library has them already.
#ifndef LATHE_HEXAGON_PART_PROGRAM_H_
#define LATHE_HEXAGON_PART_PROGRAM_H_

#include <stdint.h>

namespace lathe {
namespace hexagon {

constexpr uint32_t kPartMagic = 0x3158484c;  // LHX1
constexpr uint32_t kPartUnsigned = 1;        // flag: the program has no signature

struct PartHead {
  uint32_t magic;
  uint32_t flags;
  uint32_t power;  // as lathe_device_options.dsp_power
  uint32_t reserved;
};

// Where the program of this library is: what remote_handle64_open takes. A generated file of the library defines it.
const char* ProgramUri();

}  // namespace hexagon
}  // namespace lathe

// At global scope, once per library.
#define LATHE_DEFINE_HEXAGON_PROGRAM(uri)  \
  namespace lathe {                        \
  namespace hexagon {                      \
  const char* ProgramUri() { return uri; } \
  }                                        \
  }

#endif  // LATHE_HEXAGON_PART_PROGRAM_H_
