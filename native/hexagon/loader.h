// Finds the library of the driver by which applications reach Qualcomm's DSP, so that a library runs where there is
// none. $LATHE_HEXAGON_LIBRARY names the only one to be tried, with or without a folder.
#ifndef LATHE_HEXAGON_LOADER_H_
#define LATHE_HEXAGON_LOADER_H_

#include "native/hexagon/fastrpc.h"
#include "native/runtime/status.h"

namespace lathe {
namespace hexagon {

struct Rpc {
  int (*open)(const char* uri, Handle* handle);
  int (*invoke)(Handle handle, uint32_t scalars, Argument* arguments);
  int (*close)(Handle handle);
  // Null where the library is too old to have it.
  int (*control)(uint32_t request, void* data, uint32_t size);
  void* (*allocate)(int heap, uint32_t flags, int size);
  void (*release)(void* memory);
};

// Fills the table. kUnsupported, with a message, where there is no such library. It stays loaded.
Code LoadRpc(const ErrorSink& errors, Rpc* rpc);

// What an answer means, in words.
const char* AnswerName(int answer);

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_LOADER_H_
