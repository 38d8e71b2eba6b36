// Types of systems with processes. A program on the DSP is in one process and has no name for it.
#ifndef LATHE_HEXAGON_SYS_TYPES_H_
#define LATHE_HEXAGON_SYS_TYPES_H_

using pid_t = int;

#endif  // LATHE_HEXAGON_SYS_TYPES_H_
