// Tells where the program died: libraries of Lathe have no tables to walk a stack with, and need none for this.
#ifndef LATHE_TOOLS_CRASH_H_
#define LATHE_TOOLS_CRASH_H_

#include <cstdint>

namespace lathe_run {

// From now on a signal that ends the program is reported on stderr: its name, the instruction, what ran, and after
// "lathe_run: frame:" the file and the offset of the instruction and of what looks like the addresses to return to.
void TellOfCrashes();

// What runs now; `name` is static or lives as long as the program.
void NowRunning(const char* what, uint32_t index, const char* name);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_CRASH_H_
