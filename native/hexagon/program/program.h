// A program on the DSP as one handle sees it: the parts of models that the application has created.
#ifndef LATHE_HEXAGON_PROGRAM_PROGRAM_H_
#define LATHE_HEXAGON_PROGRAM_PROGRAM_H_

#include "native/hexagon/fastrpc.h"
#include "native/hexagon/protocol.h"
#include "native/runtime/session.h"

namespace lathe {
namespace hexagon {

class Program {
 public:
  // Null where memory is out.
  static Program* Open();
  void Close();

  // One call of protocol.h. The answer is FastRPC's.
  int Invoke(uint32_t scalars, Argument* arguments);

 private:
  struct Part {
    void* memory;  // of container and data, which the engine reads in place
    Engine* engine;
    Session* session;
  };

  Program() = default;
  void CreatePart(const Argument* arguments, Reply* reply);
  Code MakePart(const Argument* arguments, const ErrorSink& errors, Part* part);
  void RunPart(uint32_t scalars, Argument* arguments, Reply* reply);
  void DestroyPart(const Argument* arguments, Reply* reply);
  static void Release(Part* part);
  Part* Find(const Argument& block);

  Part parts_[kMostParts] = {};
  ThreadPool* pool_ = nullptr;  // of all parts, made with the first one
};

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_PROGRAM_PROGRAM_H_
