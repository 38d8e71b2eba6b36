// A WebAssembly module has no threads.
#include "native/runtime/one_thread.h"
