// What a kernel is: three functions and a name. This is all that kernels see of the runtime (with span.h and half.h);
// what they share is in native/kernel.
//
// Life of a kernel, per node:
//   prepare  once, when the engine is created: checks attributes, types and ranks, expands or packs constants.
//   plan     at session creation and at each resize: shapes are numbers now; asks for scratch, precomputes loops.
//   run      arithmetic only: no allocation, no checks that prepare or plan could have done.
// Nothing may be assumed about a model that prepare or plan did not check: model files can be hostile. What the core
// guarantees before `prepare`: inputs and outputs exist, ranks <= kMaxRank, element counts of all tensors fit in
// int64 bytes, constants lie inside the data file, are aligned to 64 and have the size that type and shape demand.
#ifndef LATHE_RUNTIME_KERNEL_H_
#define LATHE_RUNTIME_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "native/runtime/message.h"
#include "native/runtime/span.h"

namespace lathe {

constexpr int kMaxRank = 8;

enum class DType : uint8_t { kNone, kF32, kF16, kBF16, kF64, kS8, kU8, kS16, kU16, kS32, kU32, kS64, kU64, kBool };
LATHE_INLINE constexpr size_t SizeOf(DType dtype) {
  constexpr uint8_t sizes[] = {0, 4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return sizes[static_cast<int>(dtype)];
}

// The codes of c_api.h. A function that does not return kOk has left a message in its context (`Fail`).
enum class Code : int32_t { kOk, kInvalidArgument, kOutOfMemory, kUnsupported, kBadModel, kIo, kInternal };

// Evaluates an expression that returns a Code and returns early unless it is kOk.
#define LATHE_TRY(expression)                                        \
  do {                                                               \
    const ::lathe::Code lathe_try_code = (expression);               \
    if (lathe_try_code != ::lathe::Code::kOk) return lathe_try_code; \
  } while (false)

struct Shape {
  // Products of a tensor's shape never overflow: the core has checked them.
  int32_t rank = 0;
  int64_t dims[kMaxRank] = {};

  LATHE_INLINE int64_t operator[](int axis) const { return dims[axis < 0 ? axis + rank : axis]; }
  int64_t Count() const;                    // elements
  int64_t Count(int begin, int end) const;  // product of dims[begin..end)
  bool operator==(const Shape& other) const;
  LATHE_INLINE bool operator!=(const Shape& other) const { return !(*this == other); }
};

// How a constant is laid out; the codes of the container, docs/reference/format.md. A kernel gets packed only what it
// asks for.
enum class Packing : uint8_t {
  kNone,
  kPanels4,
  kPanels8,
  kPanels16,
  kWinograd2x4,
  kWinograd2x8,
  kWinograd2x16,
  kWinograd4x4,
  kWinograd4x8,
  kWinograd4x16,
  kFormer,            // of which nothing is left
  kSigned16,          // see byte_state.h
  kWinograd2Signed8,  // see conv2d_s8_winograd2.cc
  kWinograd4Of7x8,
  kWinograd4Of7x16
};
constexpr Packing kLastPacking = Packing::kWinograd4Of7x16;
LATHE_INLINE constexpr uint32_t PackingBit(Packing packing) { return uint32_t{1} << static_cast<int>(packing); }

// Stored numbers stand for real ones: scale * (number - zero). One of each for all, or for every element of an axis.
struct Quant {
  Span<const float> scales;   // positive and finite
  Span<const int64_t> zeros;  // as many; any numbers
  int64_t axis;               // -1: one for all
  int64_t bits;               // 1 to 16
};

// A constant of f32 as its file has it: halves, or integers with scales. The numbers are [outer, depth, width], and
// each `block` of them along the depth has one scale for each column: scales are [outer, blocks, width]. Neither is
// aligned.
struct StoredNumbers {
  DType storage;  // kU8: two of 4 bits in a byte, the first one in the low half
  const uint8_t* numbers;
  const uint8_t* scales;  // null: halves have none
  DType scale_type;       // kF32 or kF16
  int64_t depth;
  int64_t width;
  int64_t block;
};

struct Tensor {
  DType dtype = DType::kNone;
  Packing packing = Packing::kNone;  // the shape is then that of what is stored
  Shape shape;
  void* data = nullptr;  // prepare and plan: only constants have data
  // Elements from one row of the last axis to the next where the rows lie apart, else 0. Only kernels whose manifest
  // says `strided_inputs` or `strided_output` see such tensors, and only in `run`.
  int64_t pitch = 0;
  const Quant* quant = nullptr;  // null: the numbers are what they are
  // Input 1 in `prepare` of a kernel that reads it as it is stored: `data` is null then. Lives as long as the engine.
  const StoredNumbers* stored = nullptr;

  LATHE_INLINE int64_t RowStep() const { return pitch != 0 ? pitch : shape[-1]; }

  template <typename T>
  LATHE_INLINE const T* As() const {
    return static_cast<const T*>(data);
  }
  template <typename T>
  LATHE_INLINE T* As() {
    return static_cast<T*>(data);
  }
  LATHE_INLINE bool is_constant() const { return constant; }

  bool constant = false;
};

// The borders of a region: of a body of nodes inside of a node (a branch, the body of a loop) that the node's kernel
// runs. `data` is there in `run` only. See RunContext::RunRegion.
struct RegionTensors {
  Span<const uint32_t> inputs;  // places in `tensors`
  Span<const uint32_t> outputs;
  const Tensor* tensors;

  LATHE_INLINE int input_count() const { return static_cast<int>(inputs.size()); }
  LATHE_INLINE int output_count() const { return static_cast<int>(outputs.size()); }
  LATHE_INLINE const Tensor& input(int index) const { return tensors[inputs[static_cast<size_t>(index)]]; }
  LATHE_INLINE const Tensor& output(int index) const { return tensors[outputs[static_cast<size_t>(index)]]; }
};

// The attributes of a node. Getters fail with a message that names node and attribute where it is missing or of
// another kind; every attribute of an operator is always written, so kernels have no defaults of their own.
class Attributes {
 public:
  virtual Code Int(const char* name, int64_t* value) const = 0;  // ints and bools
  virtual Code Float(const char* name, float* value) const = 0;
  virtual Code String(const char* name, Span<const char>* value) const = 0;
  // Ints, or dimensions; symbolic ones as at `prepare`'s shapes (PlanContext::Dims has the exact ones).
  virtual Code Ints(const char* name, Span<const int64_t>* values) const = 0;
  virtual Code Floats(const char* name, Span<const float>* values) const = 0;

 protected:
  ~Attributes() = default;  // no vtable entry for a destructor: nobody deletes through this type
};

// Both contexts report through this. The text is cut to fit; "node 'x' (conv2d): " is put before it.
class Reporter {
 public:
  // printf of libc. int64_t is another type on each ABI: write %lld and cast to long long.
  // Returns `code`, so that a check is one line: `return context.Fail(...)`.
  LATHE_MESSAGE_FUNCTION(Code Fail(Code code, const char*, ...) const, 3, 4, Report(code, nullptr, nullptr))

 protected:
  ~Reporter() = default;

 private:
  // Without messages, `format` and `arguments` are null.
  virtual Code Report(Code code, const char* format, va_list* arguments) const = 0;
};

// What kernels that take regions see besides (`KernelFunctions::takes_regions`): contexts.h, engine.h, session.h.
class NodeView;
class Engine;
class Session;

class PrepareContext : public Attributes, public Reporter {
 public:
  virtual int input_count() const = 0;
  virtual int output_count() const = 0;
  // Where dimensions are symbolic the shapes are those at which a session starts: every symbol at its upper bound, one
  // without a bound at its lower. `dynamic` then says so. An index that is out of range gives a tensor of type kNone.
  virtual const Tensor& input(int index) const = 0;
  virtual const Tensor& output(int index) const = 0;
  virtual bool dynamic() const = 0;
  // Of the `KernelDef::regions` that the node has for certain.
  virtual RegionTensors region(int index) const = 0;
  // Zeroed memory aligned to 64 that lives as long as the engine: packed weights. Null where memory is out.
  virtual void* Allocate(size_t bytes) = 0;
  // `KernelDef::state_size` zeroed bytes of this node's own.
  virtual void* state() = 0;

  // For kernels that take regions: the node with the nodes inside of it, and the engine that they belong to.
  LATHE_INLINE const NodeView& view() const { return view_; }
  LATHE_INLINE Engine& engine() const { return *engine_; }

 protected:
  LATHE_INLINE PrepareContext(const NodeView& view, Engine* engine) : view_(view), engine_(engine) {}
  ~PrepareContext() = default;

 private:
  const NodeView& view_;
  Engine* engine_;
};

class PlanContext : public Reporter {
 public:
  virtual int input_count() const = 0;
  virtual int output_count() const = 0;
  virtual const Tensor& input(int index) const = 0;  // shapes are exact
  virtual const Tensor& output(int index) const = 0;
  virtual RegionTensors region(int index) const = 0;
  virtual const void* state() const = 0;
  // The exact values now of an attribute that holds dimensions (or ints). Valid until `plan` returns.
  virtual Code Dims(const char* name, Span<const int64_t>* values) = 0;
  virtual void* plan() = 0;  // `KernelDef::plan_size` zeroed bytes of this node and session
  virtual int threads() const = 0;
  // Says that an input is the part of output 0 that begins at element `at`, or an output a part of input 0. Where a
  // plan puts the part there, `run` finds it at that address and has nothing to copy.
  virtual void InputInOutput(int input, int64_t at) = 0;
  virtual void OutputInInput(int output, int64_t at) = 0;
  // Scratch memory for `run`, aligned to 64, shared between nodes, contents undefined. Call at most once.
  virtual void RequestScratch(size_t bytes) = 0;

  // For kernels that take regions: the node with the nodes inside of it, and the session that is planned.
  LATHE_INLINE const NodeView& view() const { return view_; }
  LATHE_INLINE Session& session() const { return *session_; }

 protected:
  LATHE_INLINE PlanContext(const NodeView& view, Session* session) : view_(view), session_(session) {}
  ~PlanContext() = default;

 private:
  const NodeView& view_;
  Session* session_;
};

// A slice of work: items [begin, end) on worker `thread` (0 <= thread < threads()).
using ParallelBody = void (*)(void* argument, int64_t begin, int64_t end, int thread);

struct RunContext {
  const Tensor* inputs;
  // Where only the data decides a size, an output comes with the largest one; `run` writes the dimension that it found
  // into `shape` and packs the elements for that shape.
  Tensor* outputs;
  int32_t input_count;
  int32_t output_count;
  const void* state;
  const void* plan;
  void* scratch;
  class ThreadPool* pool;
  class NodeRegions* regions = nullptr;  // of the core

  template <typename T>
  LATHE_INLINE const T& State() const {
    return *static_cast<const T*>(state);
  }
  template <typename T>
  LATHE_INLINE const T& Plan() const {
    return *static_cast<const T*>(plan);
  }

  // Splits [0, count) into contiguous slices of at least `grain` items by shape alone, so that results do not depend
  // on the number of threads, and runs them on the pool. Returns when all are done.
  void Parallel(int64_t count, int64_t grain, ParallelBody body, void* argument) const;

  // The same for a callable `f(begin, end, thread)`.
  template <typename F>
  LATHE_INLINE void For(int64_t count, int64_t grain, const F& f) const {
    Parallel(
        count, grain,
        [](void* argument, int64_t begin, int64_t end, int thread) {
          (*static_cast<const F*>(argument))(begin, end, thread);
        },
        const_cast<F*>(&f));
  }

  RegionTensors Region(int index) const;
  // Runs a region of this node once. The kernel has written the region's inputs, and finds its outputs until it runs a
  // region again; inputs keep what they hold. Inputs of the region, its outputs and the node's outputs are apart from
  // each other, but outputs of the region may be one value, a constant or a value from around it. The node's own inputs
  // and the scratch memory are gone with the first run of a region. False: something failed in the region; return.
  bool RunRegion(int index) const;
  // The same for a node that is nothing but its region: observers get the nodes inside instead of it.
  bool RunAsRegion(int index) const;
};

// What the source of a kernel says of it:
//
//   LATHE_KERNEL = {
//       .state_size = sizeof(lathe::State),
//       .prepare = lathe::Prepare,
//       .run = lathe::Run,
//   };
//
// All else is in op.yaml: the unit that the build makes of it for each element type and instruction set includes
// the source, and gives the kernel its name (buildtool/codegen/kernel_units.py).
struct KernelFunctions {
  uint32_t state_size = 0;  // engine lifetime, per node
  uint32_t plan_size = 0;   // session lifetime, per node
  Code (*prepare)(PrepareContext& context) = nullptr;
  Code (*plan)(PlanContext& context) = nullptr;  // may be null
  void (*run)(const RunContext& context) = nullptr;
  uint16_t regions = 0;   // how many a node of this operator holds
  uint16_t packings = 0;  // PackingBit of every way in which input 1 may be packed, besides plain
  // The kernel runs the nodes of its regions by itself, on a device: the core prepares nothing for them, and
  // the contexts give it the nodes, the engine and the session. See device.h.
  bool takes_regions = false;
  // Where input 1 comes packed, and is stored as this type in the model's file, the kernel reads it as it lies there.
  DType reads_stored = DType::kNone;
};

// What `quantised` of op.yaml says: kNo where it is not there.
enum class Quantised : uint8_t { kNo, kAny, kSame, kEither };

struct KernelDef : KernelFunctions {
  const char* name;  // <op>_<dtype>_<variant>__<isa>
  const char* op;
  // Input whose buffer output 0 may take over (element-wise with equal shapes, views); -1: none.
  int32_t in_place_input;
  Quantised quantised;
};

}  // namespace lathe

#define LATHE_KERNEL static constexpr ::lathe::KernelFunctions lathe_kernel

// Defines the one symbol of a kernel, which the generated registry refers to. `packable`: the packings that the
// manifest grants it.
#define LATHE_DEFINE_KERNEL(name, op, in_place, packable, quantised, functions)                                 \
  static_assert(((functions).packings & ~(packable)) == 0, #name " reads packings that op.yaml does not name"); \
  extern "C" __attribute__((visibility("hidden"))) const ::lathe::KernelDef lathe_kernel_##name;                \
  const ::lathe::KernelDef lathe_kernel_##name = {functions, #name, #op, in_place, ::lathe::Quantised::quantised}

#endif  // LATHE_RUNTIME_KERNEL_H_
