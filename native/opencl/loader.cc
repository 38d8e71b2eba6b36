#include "native/opencl/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "native/runtime/glibc_compat.h"

namespace lathe::opencl {

namespace {

// Each ends with a 0, the last with two. In one text they need no addresses, which the dynamic linker would write.
#ifdef __ANDROID__
#ifdef __LP64__
#define LATHE_LIB "lib64"
#else
#define LATHE_LIB "lib"
#endif
// Apps find libraries by plain names only, and their manifest asks for them; the places are for programs of the shell.
constexpr char kLibraries[] =
    "libOpenCL.so\0libOpenCL-pixel.so\0libOpenCL-car.so\0libGLES_mali.so\0libmali.so\0libPVROCL.so\0"
    "/vendor/" LATHE_LIB "/libOpenCL.so\0/system/vendor/" LATHE_LIB "/libOpenCL.so\0/vendor/" LATHE_LIB
    "/egl/libGLES_mali.so\0/system/vendor/" LATHE_LIB "/egl/libGLES_mali.so\0/vendor/" LATHE_LIB
    "/libPVROCL.so\0/system/vendor/" LATHE_LIB "/libPVROCL.so\0/system/" LATHE_LIB "/libOpenCL.so\0";
constexpr char kAdvice[] = "; an app asks for it with <uses-native-library android:name=\"libOpenCL.so\"/>";
#else
constexpr char kLibraries[] =
    "libOpenCL.so.1\0"
    "libOpenCL.so\0";
constexpr char kAdvice[] = "; install the driver of the GPU, and an ICD loader";
#endif

// In the order of the table. An optional one has a ? before it.
#define LATHE_NEEDED(result, name, parameters) "cl" #name "\0"
#define LATHE_OPTIONAL(result, name, parameters) "?cl" #name "\0"
constexpr char kFunctions[] = LATHE_OPENCL_FUNCTIONS(LATHE_NEEDED, LATHE_OPTIONAL);

// What drivers answer to the functions above: how far below 0, and the standard's name.
constexpr char kAnswers[] =
    "\1CL_DEVICE_NOT_FOUND\0\2CL_DEVICE_NOT_AVAILABLE\0\3CL_COMPILER_NOT_AVAILABLE\0"
    "\4CL_MEM_OBJECT_ALLOCATION_FAILURE\0\5CL_OUT_OF_RESOURCES\0\6CL_OUT_OF_HOST_MEMORY\0"
    "\12CL_IMAGE_FORMAT_NOT_SUPPORTED\0\13CL_BUILD_PROGRAM_FAILURE\0\14CL_MAP_FAILURE\0"
    "\36CL_INVALID_VALUE\0\44CL_INVALID_COMMAND_QUEUE\0\46CL_INVALID_MEM_OBJECT\0\50CL_INVALID_IMAGE_SIZE\0"
    "\53CL_INVALID_BUILD_OPTIONS\0\56CL_INVALID_KERNEL_NAME\0\62CL_INVALID_ARG_VALUE\0\63CL_INVALID_ARG_SIZE\0"
    "\66CL_INVALID_WORK_GROUP_SIZE\0\75CL_INVALID_BUFFER_SIZE\0\77CL_INVALID_GLOBAL_WORK_SIZE\0";

const char* Next(const char* text) { return text + strlen(text) + 1; }

using Function = void (*)();
using Finder = void* (*)(const char* name);

// libOpenCL-pixel.so and libOpenCL-car.so return their functions themselves, once asked to.
Finder FinderOf(void* library) {
  const auto enable = reinterpret_cast<Function>(dlsym(library, "enableOpenCL"));
  const auto finder = reinterpret_cast<Finder>(dlsym(library, "loadOpenCLPointer"));
  if (enable == nullptr || finder == nullptr) return nullptr;
  enable();
  return finder;
}

Code Fill(void* library, const char* library_name, ClApi* api, Reason* reason) {
  const Finder finder = FinderOf(library);
  Function found[sizeof(ClApi) / sizeof(Function)];
  Function* place = found;
  for (const char* name = kFunctions; *name != 0; name = Next(name), ++place) {
    const bool optional = *name == '?';
    const char* symbol = optional ? name + 1 : name;
    *place = reinterpret_cast<Function>(finder != nullptr ? finder(symbol) : dlsym(library, symbol));
    if (*place == nullptr && !optional)
      return reason->Fail(Code::kUnsupported, "%s has no %s: OpenCL 1.2 is needed", library_name, symbol);
  }
  static_assert(sizeof(found) == sizeof(*api), "the table holds functions only");
  memcpy(api, found, sizeof(found));
  return Code::kOk;
}

// kIo where there is no such library.
Code LoadFrom(const char* name, ClApi* api, Reason* reason) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return Fill(library, name, api, reason);
  const char* problem = dlerror();
  return reason->Fail(Code::kIo, "there is no OpenCL: %s", problem != nullptr ? problem : name);
}

}  // namespace

Code Load(ClApi* api, Reason* reason) {
  // A program with more rights than its user does not load what the user names.
  const char* chosen = getauxval(AT_SECURE) != 0 ? nullptr : getenv("LATHE_OPENCL_LIBRARY");
  if (chosen != nullptr && *chosen != 0) {
    Reason why;
    if (LoadFrom(chosen, api, &why) == Code::kOk) return Code::kOk;
    return reason->Fail(Code::kUnsupported, "LATHE_OPENCL_LIBRARY is '%s': %s", chosen, why.text());
  }
  // That a library is there and does not do says more than that the first name is not there.
  Reason why;
  Code answer = Code::kIo;
  for (const char* name = kLibraries; *name != 0; name = Next(name)) {
    Reason problem;
    const Code code = LoadFrom(name, api, &problem);
    if (code == Code::kOk) return Code::kOk;
    if (answer != Code::kIo || (code == Code::kIo && name != kLibraries)) continue;
    answer = code;
    why = problem;
  }
  return reason->Fail(Code::kUnsupported, "%s%s", why.text(), answer == Code::kIo ? kAdvice : "");
}

const char* ErrorName(cl_int answer) {
  if (answer == kClPlatformNotFoundKhr) return "CL_PLATFORM_NOT_FOUND_KHR";
  const char* name = kAnswers;
  while (*name != 0 && answer != -*name) name = Next(name);
  return *name != 0 ? name + 1 : "unknown";
}

Code Reason::Answered(Code code, const char* function, cl_int answer) {
  return Fail(code, "%s answers %s (%d)", function, ErrorName(answer), static_cast<int>(answer));
}

#ifndef LATHE_NO_MESSAGES
Code Reason::Fail(Code code, const char* format, ...) {
  // The arguments may hold the text that stands there now.
  char text[sizeof(text_)];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof(text), format, arguments) < 0) text[0] = 0;
  va_end(arguments);
  memcpy(text_, text, sizeof(text));
  return code;
}
#endif

}  // namespace lathe::opencl
