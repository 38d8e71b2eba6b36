// A model that is ready to run: checked, kernels chosen, constants expanded and packed. Shared by its sessions, which
// only read it.
#ifndef LATHE_CORE_ENGINE_H_
#define LATHE_CORE_ENGINE_H_

#include "native/core/cpu.h"
#include "native/core/file_map.h"
#include "native/core/memory.h"
#include "native/core/model.h"
#include "native/core/registry.h"
#include "native/core/status.h"
#include "native/core/threads.h"

namespace lathe {

struct PreparedNode {
  const Node* node;
  const KernelDef* kernel;
  void* state;
  uint32_t first_operand;  // inputs, then outputs, in the flat list of all operands
  uint32_t end;            // the number of the next node that is not in a region of this one
};

class Engine {
 public:
  static Code Create(const lathe_engine_options& options, const ErrorSink& errors, Engine** engine);
  static void Destroy(Engine* engine);

  const Model& model() const { return model_; }
  // Of all regions; those of a node's regions follow it.
  Span<const PreparedNode> nodes() const { return nodes_; }
  size_t operand_count() const { return operand_count_; }
  // By index of value: the shape at which a session starts, and the data of constants.
  Span<const Tensor> tensors() const { return tensors_; }
  // The symbols' values at that shape.
  Span<const int64_t> start_symbols() const { return start_symbols_; }
  ThreadPool* pool() const { return pool_; }
  const lathe_allocator& allocator() const { return allocator_; }
  size_t weights_mapped() const { return weights_mapped_; }
  size_t weights_allocated() const { return weights_allocated_; }

  // For NodePrepare: memory for packed weights, null where it is out.
  void* AllocateWeights(size_t bytes);

 private:
  Engine(const lathe_allocator& allocator, const ErrorSink& errors)
      : allocator_(allocator), memory_(allocator), errors_(errors) {}
  ~Engine();

  Code Load(const lathe_engine_options& options);
  Code FindModel(const lathe_engine_options& options, lathe_bytes* model, lathe_bytes* data);
  Code FindEmbedded(const char* name, const lathe_embedded_model** found);
  Code FindIsas(const char* limit);
  Code MakeTensors(lathe_bytes data);
  Code LoadConstant(const Value& value, lathe_bytes data, Tensor* tensor);
  Code PrepareNodes();
  Code PrepareRegion(const Region& region, uint32_t* next);
  Code PrepareNode(const Node& node, PreparedNode* prepared);
  Code PreparePlanned(const Node& node, PreparedNode* prepared);
  Code NoneRuns(const Node& node) const;
  Code ChooseKernel(const Node& node, PreparedNode* prepared);
  Code TryKernel(const Node& node, const KernelDef& kernel, PreparedNode* prepared);

  lathe_allocator allocator_;
  MemoryArena memory_;
  ErrorSink errors_;  // of `Create`; unused afterwards
  FileMap model_file_;
  FileMap data_file_;
  Model model_ = {};
  IsaMask isas_ = 0;  // whose kernels may be used
  Span<PreparedNode> nodes_;
  Span<Tensor> tensors_;
  Span<int64_t> start_symbols_;
  size_t operand_count_ = 0;
  bool dynamic_ = false;
  ThreadPool* pool_ = nullptr;
  bool owns_pool_ = false;
  size_t weights_mapped_ = 0;
  size_t weights_allocated_ = 0;
};

}  // namespace lathe

#endif  // LATHE_CORE_ENGINE_H_
