// Finds the OpenCL of a machine at run time, so that a library runs where there is none, too.
//
// Names are tried one after the other: libOpenCL.so.1 and libOpenCL.so, on Android the places where vendors put theirs.
// $LATHE_OPENCL_LIBRARY names the only one to be tried, with or without a folder.
#ifndef LATHE_OPENCL_LOADER_H_
#define LATHE_OPENCL_LOADER_H_

#include "native/opencl/cl.h"
#include "native/runtime/kernel.h"
#include "native/runtime/message.h"

namespace lathe::opencl {

// Why a device is not used, in words. Empty in a library without messages.
class Reason {
 public:
  // printf of libc; the text is cut to fit. Returns `code`.
  LATHE_MESSAGE_FUNCTION(Code Fail(Code code, const char*, ...), 3, 4, code)
  // That a function of OpenCL ("clCreateContext") answered something else than kClSuccess.
  Code Answered(Code code, const char* function, cl_int answer);

  const char* text() const { return text_; }
  bool empty() const { return text_[0] == 0; }

 private:
  char text_[400] = "";
};

// Fills the table. kUnsupported, with the reason, where there is no library or none that has OpenCL 1.2. What was
// loaded stays loaded until the program ends: drivers have threads and exit handlers of their own and do not survive
// less.
Code Load(ClApi* api, Reason* reason);

// What the standard calls an answer: "CL_OUT_OF_RESOURCES". "unknown" for what drivers do not answer to what we ask.
__attribute__((const)) const char* ErrorName(cl_int answer);

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_LOADER_H_
