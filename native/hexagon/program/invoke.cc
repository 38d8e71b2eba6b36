#include "native/hexagon/program/invoke.h"

#include "native/hexagon/program/program.h"

// Threads of processors before v68 own the vectors only between these two; later ones need not ask. Loaders that do not
// know them leave them out.
extern "C" __attribute__((weak)) int qurt_hvx_lock(int mode);
extern "C" __attribute__((weak)) int qurt_hvx_unlock();

namespace lathe {
namespace hexagon {

namespace {

class Vectors {
 public:
  Vectors() : held_(qurt_hvx_lock != nullptr && qurt_hvx_lock(k128Bytes) == 0) {}
  ~Vectors() {
    if (held_ && qurt_hvx_unlock != nullptr) qurt_hvx_unlock();
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

 private:
  static constexpr int k128Bytes = 1;
  bool held_;
};

}  // namespace

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
    case kMethodClose:
      if (handle == 0) return kBadParameter;
      reinterpret_cast<Program*>(static_cast<uintptr_t>(handle))->Close();
      return kOk;
    default: {
      if (handle == 0) return kBadParameter;
      const Vectors vectors;
      return reinterpret_cast<Program*>(static_cast<uintptr_t>(handle))->Invoke(scalars, arguments);
    }
  }
}

}  // namespace hexagon
}  // namespace lathe
