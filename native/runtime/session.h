// The memory of one run of an engine, at one shape.
#ifndef LATHE_RUNTIME_SESSION_H_
#define LATHE_RUNTIME_SESSION_H_

#include "native/runtime/engine.h"
#include "native/runtime/planner.h"

namespace lathe {

class Session;

// What a kernel runs the regions of its node through.
class NodeRegions {
 public:
  NodeRegions(Session* session, size_t node, bool is_observed, const ErrorSink& errors)
      : session_(session), node_(node), is_observed_(is_observed), errors_(errors) {}

  RegionTensors Tensors(size_t index) const;
  // `observed`: observers of the node get the region's nodes instead.
  Code Run(size_t index, bool observed);
  Code code() const { return code_; }  // of the last run

  // For kernels that take regions: what they run by themselves they answer for.
  void set_code(Code code) { code_ = code; }
  const ErrorSink& errors() const { return errors_; }
  size_t node() const { return node_; }
  Session& session() const { return *session_; }
  // Reports a node of a region to the session's observer, which then gets nothing about the node around it.
  void Observe(size_t node, const char* kernel, int64_t start_ns, int64_t end_ns);
  bool observed() const { return observed_; }

 private:
  Session* session_;
  size_t node_;  // its number
  bool is_observed_;
  const ErrorSink& errors_;
  Code code_ = Code::kOk;
  bool observed_ = false;
};

class Session {
 public:
  static Code Create(Engine* engine, uint32_t flags, const ErrorSink& errors, Session** session);
  static void Destroy(Session* session);

  // A shape that does not fit leaves the session as it was; where planning or memory fails, the session is of no use
  // until a resize succeeds.
  Code Resize(Span<const lathe_shape> shapes, const ErrorSink& errors);

  Code InputData(size_t index, void** data, size_t* bytes, const ErrorSink& errors);
  Code BindInput(size_t index, const void* data, size_t bytes, const ErrorSink& errors);
  Code BindOutput(size_t index, void* data, size_t bytes, const ErrorSink& errors);
  Code OutputData(size_t index, const void** data, size_t* bytes, const ErrorSink& errors) const;
  Code InputInfo(size_t index, lathe_tensor_info* info, const ErrorSink& errors) const;
  Code OutputInfo(size_t index, lathe_tensor_info* info, const ErrorSink& errors) const;
  Code FindValue(const char* name, lathe_tensor_info* info, const void** data, const ErrorSink& errors) const;
  Code ValueAt(size_t index, lathe_tensor_info* info, const void** data, const ErrorSink& errors) const;

  Code Run(const ErrorSink& errors);
  void SetObserver(lathe_observer observer, void* user) {
    observer_ = observer;
    observer_user_ = user;
  }
  lathe_memory_info memory_info() const;
  // What is done beside the nodes, to the observer.
  void Tell(const lathe_node_event& event) const {
    if (observer_ != nullptr) observer_(observer_user_, &event);
  }

  // For kernels that take regions.
  const Engine& engine() const { return *engine_; }
  bool keeps_all() const { return keep_all_; }
  bool is_observed() const { return observer_ != nullptr; }
  Span<Tensor> tensors() const { return tensors_; }  // `data` is null where nothing on the host holds the value
  uint32_t bindings() const { return bindings_; }    // another number whenever the application has bound anything anew

 private:
  Session(Engine* engine, bool keep_all)
      : engine_(engine), model_(engine->model()), keep_all_(keep_all), memory_(engine->allocator()) {}
  ~Session();

  // session_setup.cc: what depends on the model alone.
  Code MakeTables(const ErrorSink& errors);
  void MakeItems();
  uint32_t MakeItems(const Region& region, uint32_t step, size_t* next);
  void MakeTakenItems(const Node& node, uint32_t step);
  void KeepForRegions(const Node& node, size_t known, uint32_t first, uint32_t last);
  uint32_t AddItem(uint32_t value, uint32_t step);
  void Extend(uint32_t value, uint32_t step);

  // session_plan.cc: what depends on the shape.
  Code SolveSymbols(Span<const lathe_shape> shapes, const ErrorSink& errors);
  Code SolveDim(const char* input, size_t axis, const DimSpec& dim, int64_t size, const ErrorSink& errors);
  Code CheckInputShape(size_t index, const lathe_shape& shape, const ErrorSink& errors) const;
  Code FindShapes(Span<const int64_t> symbols, bool keep, const ErrorSink& errors);
  Code Replan(const ErrorSink& errors);
  Code PlanNodes(const ErrorSink& errors);
  Code PlanNode(size_t index, size_t* scratch, const ErrorSink& errors);
  Code PlanMemory(const ErrorSink& errors);
  void LinkParts(bool stored);
  void LinkTakeovers(bool stored);
  Code UseStoredPlan(const ErrorSink& errors);
  Code AllocateBlock(const ErrorSink& errors);
  void FreeBlock();
  bool AtStartShape() const;

  // session_sizes.cc: sizes that only the data decides.
  void MarkDataSizes();
  bool FixedSize(uint32_t value) const;
  bool SameSize(uint32_t a, uint32_t b) const;
  Code RestoreSizes(const ErrorSink& errors);
  Code FindSizes(size_t index, const ErrorSink& errors);
  Code FollowSizes(size_t first, const ErrorSink& errors);
  bool UpdateOperands(const PreparedNode& prepared);

  // session_regions.cc: regions, which kernels run.
  friend class NodeRegions;
  Code RunRegion(size_t node, size_t region, bool observed, const ErrorSink& errors);
  size_t Behind(size_t first, size_t count) const;
  Code ForgetSizes(size_t first, size_t end, const ErrorSink& errors);

  // session.cc
  void Unbind();
  void Point();
  void FillInfo(uint32_t value, const char* format, lathe_tensor_info* out) const;
  Code RunNodes(size_t index, size_t count, bool observed, const ErrorSink& errors);
  Code RunNode(size_t index, bool observed, const ErrorSink& errors);
  Code CheckUsable(const ErrorSink& errors) const;
  Code CheckBuffer(const char* kind, size_t index, Span<uint32_t> values, const void* data, size_t bytes,
                   const ErrorSink& errors) const;
  size_t BytesOf(uint32_t value) const {
    const Tensor& tensor = tensors_[value];
    return static_cast<size_t>(tensor.shape.Count()) * SizeOf(tensor.dtype);
  }

  // As planned: an output whose size the data decides may be smaller after a run.
  size_t PlannedBytesOf(uint32_t value) const {
    return item_of_[value] == kNoItem ? BytesOf(value) : static_cast<size_t>(items_[item_of_[value]].size);
  }

#ifdef LATHE_CHECK_MEMORY
  // session_check.cc
  void PoisonMemory();
  void KeepChecksums(Span<const uint32_t> values);
  Code CheckChecksums(const char* reader, Span<const uint32_t> values, const ErrorSink& errors) const;
  Code CheckTaken(size_t node, size_t region, const ErrorSink& errors);

  Span<uint64_t> checksums_;  // by value; 0: not known
#endif

  Engine* engine_;
  const Model& model_;
  bool keep_all_;
  bool ready_ = false;
  bool pointed_ = false;  // the operands point where the bindings say
  uint32_t bindings_ = 0;
  MemoryArena memory_;

  Span<int64_t> symbols_;
  Span<int64_t> new_symbols_;
  Span<bool> solved_;
  Span<uint32_t> finder_;  // by symbol: the node that finds it out; kNoItem where inputs do
  Span<bool> finds_;       // by node: it finds out a size
  bool has_data_sizes_ = false;
  bool sizes_found_ = false;  // shapes are those of the last run, not the planned ones
  Span<Tensor> tensors_;      // by value; `data` as the next run sees it
  Span<void*> own_;           // by value: memory in the block; null for constants
  Span<Tensor> operands_;     // of all nodes
  Span<void*> plans_;         // by node
  Span<int64_t> workspace_;   // of NodeView

  Span<uint32_t> item_of_;   // by value
  Span<uint32_t> value_of_;  // by item
  Span<ArenaItem> items_;
  Span<ArenaItem> lifetimes_;  // the items before planning, which changes them; `inside` as the stored plan has it
  Span<PartOf> parts_;         // by value: what kernels say in `plan`
  Span<uint32_t> order_;
  size_t item_count_ = 0;
  uint32_t end_step_ = 0;  // behind the last node

  Span<const void*> bound_inputs_;
  Span<void*> bound_outputs_;

  uint8_t* block_ = nullptr;   // arena, then scratch
  bool shared_block_ = false;  // it is the device's
  size_t capacity_ = 0;
  size_t arena_size_ = 0;
  size_t scratch_size_ = 0;

  lathe_observer observer_ = nullptr;
  void* observer_user_ = nullptr;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_SESSION_H_
