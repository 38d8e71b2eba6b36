// A model that is ready to run: checked, kernels chosen, constants expanded and packed. Shared by its sessions, which
// only read it.
#ifndef LATHE_RUNTIME_ENGINE_H_
#define LATHE_RUNTIME_ENGINE_H_

#include "native/runtime/cpu.h"
#include "native/runtime/device.h"
#include "native/runtime/file_map.h"
#include "native/runtime/memory.h"
#include "native/runtime/model.h"
#include "native/runtime/registry.h"
#include "native/runtime/status.h"
#include "native/runtime/threads.h"

namespace lathe {

struct PreparedNode {
  const Node* node;
  const KernelDef* kernel;  // null inside of a region that a device takes
  void* state;
  uint32_t first_operand;  // inputs, then outputs, in the flat list of all operands
  uint32_t end;            // the number of the next node that is not in a region of this one
};

class Engine {
 public:
  static Code Create(const lathe_engine_options& options, const ErrorSink& errors, Engine** engine);
  // Its creator holds an engine, and each session: the last one to release it destroys it.
  void Hold() { __atomic_fetch_add(&holders_, 1, __ATOMIC_SEQ_CST); }
  static void Release(Engine* engine);

  const Model& model() const { return model_; }
  // Of all regions; those of a node's regions follow it.
  Span<const PreparedNode> nodes() const { return nodes_; }
  const PreparedNode& node(size_t index) const { return nodes_[index]; }
  size_t operand_count() const { return operand_count_; }
  // By index of value: the shape at which a session starts, and the data of constants.
  Span<const Tensor> tensors() const { return tensors_; }
  // The symbols' values at that shape.
  Span<const int64_t> start_symbols() const { return start_symbols_; }
  ThreadPool* pool() const { return pool_; }
  const lathe_allocator& allocator() const { return allocator_; }
  size_t weights_mapped() const { return weights_mapped_; }
  size_t weights_allocated() const { return weights_allocated_; }

  // For libraries that cannot bind threads to cores.
  static Code NoBinding(const ErrorSink& errors);

  // For NodePrepare: memory for packed weights, null where it is out.
  void* AllocateWeights(size_t bytes);

  // Null where the model has no part for a device. The kernel of such parts brings it, even where it then declines.
  Device* device() const { return device_; }
  void set_device(Device* device) { device_ = device; }
  bool runs_on_device() const { return runs_on_device_; }
  // Why a model with parts for a device has none; null where it has no such part.
  const char* WhyNoDevice() const;
  // What the application says of devices; in `prepare` only.
  const lathe_device_options& device_options() const { return device_options_; }

 private:
  friend Code LoadPackedConstants(Engine* engine, const Node& node, const KernelDef& kernel);

  Engine(const lathe_allocator& allocator, const ErrorSink& errors)
      : allocator_(allocator), memory_(allocator), errors_(errors) {}
  ~Engine();

  Code Load(const lathe_engine_options& options);
  Code FindModel(const lathe_engine_options& options, lathe_bytes* model, lathe_bytes* data);
  Code FindEmbedded(const char* name, const lathe_embedded_model** found);
  Code FindIsas(const lathe_engine_options& options);
  Code FindThreads(const lathe_engine_options& options);
  Code MakeTensors();
  Code LoadConstant(const Value& value, Tensor* tensor);
  Code PrepareNodes();
  Code PrepareRegion(const Region& region, bool taken, uint32_t* next);
  Code PrepareNode(const Node& node, PreparedNode* prepared);
  Code PreparePlanned(const Node& node, PreparedNode* prepared);
  Code NoneRuns(const Node& node) const;
  Code ChooseKernel(const Node& node, PreparedNode* prepared);
  bool FitsQuantised(const Node& node, Quantised wanted) const;
  Code TryKernel(const Node& node, const KernelDef& kernel, PreparedNode* prepared);

  uint32_t holders_ = 1;
  lathe_allocator allocator_;
  MemoryArena memory_;
  ErrorSink errors_;  // of `Create`; unused afterwards
  FileMap model_file_;
  FileMap data_file_;
  Model model_ = {};
  lathe_bytes data_ = {};  // its constants
  IsaMask isas_ = 0;       // whose kernels may be used
  Span<PreparedNode> nodes_;
  Span<Tensor> tensors_;
  Span<int64_t> start_symbols_;
  size_t operand_count_ = 0;
  bool dynamic_ = false;
  ThreadPool* pool_ = nullptr;
  Device* device_ = nullptr;
  bool runs_on_device_ = false;  // some kernel takes its regions
  lathe_device_options device_options_ = {};
  size_t weights_mapped_ = 0;
  size_t weights_allocated_ = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_ENGINE_H_
