// The DSP behind an engine: one session with the program of the library, and the parts of the model that it was given.
#ifndef LATHE_HEXAGON_DSP_H_
#define LATHE_HEXAGON_DSP_H_

#include <pthread.h>

#include "native/hexagon/loader.h"
#include "native/hexagon/part_program.h"
#include "native/hexagon/protocol.h"
#include "native/runtime/contexts.h"

namespace lathe {
namespace hexagon {

// A device_region that the DSP runs.
struct Part {
  Part* next;
  const Node* node;
  size_t first;                   // the number of its region's first node
  lathe_bytes program;            // its container
  Span<uint32_t> inputs;          // values around the region that it reads
  Span<const Tensor*> constants;  // in the order of its data
  size_t data_size;
  uint32_t number;  // the DSP's
};

class Dsp final : public Device {
 public:
  // Makes the device of an engine, even where it cannot be used: then it says why. Null where memory is out.
  static Dsp* Of(Engine* engine);

  void Info(lathe_device_info* info) const override;
  Code Data(uint32_t what, const ErrorSink& errors, lathe_bytes* data) override;
  const char* KernelOf(size_t node) const override;
  void EndSession(const void*) override {}
  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void End() override;

  const char* reason() const { return reason_.message; }
  // Opens the program, the first time, and gives it the part. The reason stays where it cannot.
  Code AddPart(const PartHead& head, Part* part);
  MemoryArena& memory() { return memory_; }

  // Runs a part. `arguments` has the inputs from place 1 on, a place for the reply, the outputs, and behind them what
  // is wished besides, if anything. Where the DSP went down, it is started once more.
  Code Run(const Part& part, size_t inputs, size_t outputs, Wish wish, Argument* arguments, const ErrorSink& errors);

 private:
  explicit Dsp(Engine* engine)
      : allocator_(engine->allocator()),
        memory_(engine->allocator()),
        wishes_(engine->device_options()),
        threads_(engine->pool()->threads()) {}
  Power WishedPower() const;
  Code Open(const ErrorSink& errors);
  Code SendPart(Part* part, const ErrorSink& errors);
  Code Restart(const ErrorSink& errors);
  Code Call(uint32_t scalars, Argument* arguments, Reply* reply, const ErrorSink& errors, int* answer);

  lathe_allocator allocator_;
  MemoryArena memory_;
  const lathe_device_options& wishes_;
  const int threads_;  // of the engine
  lathe_error reason_ = {};
  Rpc rpc_ = {};
  Handle handle_ = 0;
  bool loaded_ = false;
  bool opened_ = false;
  PartHead head_ = {};
  Part* parts_ = nullptr;
  uint64_t memory_bytes_ = 0;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // of all calls: a restart changes what they need
};

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_DSP_H_
