#include "native/hexagon/program/invoke.h"

#include "native/hexagon/program/program.h"
#include "native/hexagon/program/vectors.h"

namespace lathe {
namespace hexagon {

int Invoke(Handle handle, uint32_t scalars, Argument* arguments) {
  switch (MethodOf(scalars)) {
    case kMethodOpen: {
      const uint32_t inputs = InputsOf(scalars), outputs = OutputsOf(scalars);
      if (HandlesOutOf(scalars) != 1 || HandlesInOf(scalars) != 0 || inputs > 2 || outputs != 0) return kBadParameter;
      Program* program = Program::Open();
      if (program == nullptr) return kNoMemory;
      arguments[inputs].handle64 = reinterpret_cast<uintptr_t>(program);
      return kOk;
    }
    case kMethodClose: {
      if (handle == 0) return kBadParameter;
      const Vectors vectors;
      reinterpret_cast<Program*>(static_cast<uintptr_t>(handle))->Close();
      return kOk;
    }
    default: {
      if (handle == 0) return kBadParameter;
      const Vectors vectors;
      return reinterpret_cast<Program*>(static_cast<uintptr_t>(handle))->Invoke(scalars, arguments);
    }
  }
}

}  // namespace hexagon
}  // namespace lathe
