// The clocks of the DSP, as an application wants them.
#ifndef LATHE_HEXAGON_PROGRAM_POWER_H_
#define LATHE_HEXAGON_PROGRAM_POWER_H_

#include "native/hexagon/protocol.h"

namespace lathe {
namespace hexagon {

// Votes for them on behalf of a handle. A system that takes no votes keeps its own.
void VoteForPower(void* handle, const Power& power);

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_PROGRAM_POWER_H_
