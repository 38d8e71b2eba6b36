// A library as phones have it that hands its functions out itself: only after it was told to, and none of OpenCL 2.0.
#include <string.h>

namespace {
bool enabled = false;
int AnswerOddly() { return -4711; }
}  // namespace

extern "C" void enableOpenCL() { enabled = true; }
extern "C" void* loadOpenCLPointer(const char* name) {
  if (!enabled || strcmp(name, "clCreateCommandQueueWithProperties") == 0) return nullptr;
  return reinterpret_cast<void*>(AnswerOddly);
}
