// A program on the DSP has no threads of its own.
#include "native/runtime/one_thread.h"
