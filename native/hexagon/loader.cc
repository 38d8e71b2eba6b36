#include "native/hexagon/loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "native/runtime/glibc_compat.h"

namespace lathe {
namespace hexagon {

namespace {

#ifdef __ANDROID__
constexpr char kAdvice[] = "; an app asks for it with <uses-native-library android:name=\"libcdsprpc.so\"/>";
#else
constexpr char kAdvice[] = "; install the FastRPC library of the board";
#endif

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

Code Fill(void* library, const char* name, const ErrorSink& errors, Rpc* rpc) {
  const bool whole = Find(library, "remote_handle64_open", &rpc->open) &&
                     Find(library, "remote_handle64_invoke", &rpc->invoke) &&
                     Find(library, "remote_handle64_close", &rpc->close);
  if (!whole) return errors.Fail(Code::kUnsupported, "%s lacks functions of FastRPC (remote_handle64_open)", name);
  Find(library, "remote_session_control", &rpc->control);
  if (!Find(library, "rpcmem_alloc", &rpc->allocate) || !Find(library, "rpcmem_free", &rpc->release))
    rpc->allocate = nullptr;
  return Code::kOk;
}

}  // namespace

Code LoadRpc(const ErrorSink& errors, Rpc* rpc) {
  // A program with more rights than its user does not load what the user names.
  const char* chosen = getauxval(AT_SECURE) != 0 ? nullptr : getenv("LATHE_HEXAGON_LIBRARY");
  const bool is_chosen = chosen != nullptr && *chosen != 0;
  const char* name = is_chosen ? chosen : "libcdsprpc.so";
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && !is_chosen) library = dlopen("libcdsprpc.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return Fill(library, name, errors, rpc);
  const char* problem = dlerror();
  return errors.Fail(Code::kUnsupported, "there is no FastRPC: %s%s", problem != nullptr ? problem : name,
                     is_chosen ? "" : kAdvice);
}

const char* AnswerName(int answer) {
  switch (answer) {
    case kNoMemory:
      return "there is no memory";
    case kExpired:
      return "it took too long";
    case kConnectionReset:
    case kDspDown:
      return "the DSP went down";
    case kSignature:
      return "the DSP refuses the program's signature";
    case kUnsupported:
      return "it is not supported";
    default:
      return "it failed";
  }
}

}  // namespace hexagon
}  // namespace lathe
