// How FastRPC enters a program on the DSP. A generated file of each library reads
//
//   #include "native/hexagon/program/invoke.h"
//   LATHE_DEFINE_HEXAGON_ENTRY(digits)
#ifndef LATHE_HEXAGON_PROGRAM_INVOKE_H_
#define LATHE_HEXAGON_PROGRAM_INVOKE_H_

#include "native/hexagon/fastrpc.h"

namespace lathe {
namespace hexagon {

int Invoke(Handle handle, uint32_t scalars, Argument* arguments);

}  // namespace hexagon
}  // namespace lathe

#define LATHE_DEFINE_HEXAGON_ENTRY(identifier)                                                      \
  extern "C" __attribute__((visibility("default"))) int identifier##_skel_handle_invoke(            \
      ::lathe::hexagon::Handle handle, uint32_t scalars, ::lathe::hexagon::Argument* arguments);    \
  extern "C" int identifier##_skel_handle_invoke(::lathe::hexagon::Handle handle, uint32_t scalars, \
                                                 ::lathe::hexagon::Argument* arguments) {           \
    return ::lathe::hexagon::Invoke(handle, scalars, arguments);                                    \
  }

#endif  // LATHE_HEXAGON_PROGRAM_INVOKE_H_
