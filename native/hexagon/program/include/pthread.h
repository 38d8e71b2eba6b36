// Threads of programs on the DSP: those of qurt, see threads.cc.
#ifndef LATHE_HEXAGON_PTHREAD_H_
#define LATHE_HEXAGON_PTHREAD_H_

using pthread_t = unsigned;

#endif  // LATHE_HEXAGON_PTHREAD_H_
