// A model in memory: the tables of the container, checked. Nothing here knows kernels.
#ifndef LATHE_RUNTIME_MODEL_H_
#define LATHE_RUNTIME_MODEL_H_

#include <stdint.h>

#include "native/runtime/dims.h"
#include "native/runtime/memory.h"
#include "native/runtime/pb_reader.h"
#include "native/runtime/status.h"

namespace lathe {

// Limits of the container (docs/reference/format.md). They bound what a hostile file costs, far above what models need.
constexpr uint32_t kFormatVersion = 3;
constexpr size_t kMaxSymbols = 256;
constexpr size_t kMaxExprs = 1 << 16;
constexpr size_t kMaxValues = 1 << 18;
constexpr size_t kMaxNodes = 1 << 16;  // of all regions together
constexpr size_t kMaxOperands = 4096;  // inputs or outputs of a node or region
constexpr size_t kMaxAttributes = 64;
constexpr size_t kMaxAttributeElements = 1 << 20;
constexpr size_t kMaxSourceNames = 64;
constexpr size_t kMaxPlannedKernels = 16;  // of a node
constexpr size_t kMaxName = 4096;
constexpr int kMaxRegionDepth = 9;  // 8 of the graph, and one of a device inside of them

struct DimSpec {
  int64_t size;  // where `expr` is -1
  int32_t expr;  // index into Model::exprs
};

struct Value {
  const char* name;
  Span<const char*> source_names;
  Span<DimSpec> dims;
  DType dtype;
  DType storage;   // of a constant, in the data file
  PbBytes scaled;  // where a constant is whole numbers with scales: the message of these, in the model's file
  Packing packing;
  bool constant;
  uint64_t offset;  // of a constant
  const Quant* quant;
};

enum class AttrKind : uint8_t { kNone, kInt, kFloat, kString, kInts, kFloats, kStrings, kDims, kDType };

struct Attr {
  const char* name;
  AttrKind kind;
  int64_t i;           // kInt, kDType
  float f;             // kFloat
  Span<const char> s;  // kString
  Span<int64_t> ints;  // kInts
  Span<float> floats;  // kFloats
  Span<DimSpec> dims;  // kDims
};

struct Region;

struct Node {
  const char* op;
  const char* name;
  Span<const char*> planned_kernels;  // best first; empty in the portable form
  Span<uint32_t> inputs;              // indices of values
  Span<uint32_t> outputs;
  Span<Attr> attrs;
  Span<Region> regions;
};

struct Region {
  Span<uint32_t> inputs;
  Span<uint32_t> outputs;
  Span<Node> nodes;
};

struct Placement {
  uint32_t value;
  uint64_t offset;
  uint64_t size;
};

struct Model {
  const char* name;
  uint64_t data_size;
  PbBytes weights;  // the data file inside of the model; empty where it is a file of its own
  Span<DimSymbol> symbols;
  Span<DimProgram> exprs;
  Span<Value> values;
  Region body;
  size_t node_count;                 // of all regions together
  Span<const char*> input_formats;   // as many as body.inputs
  Span<const char*> output_formats;  // as many as body.outputs

  bool planned;
  const char* abi;
  Span<Placement> arena;
  uint64_t arena_size;
};

// Reads and checks everything that does not need kernels: `bytes` is the file `<model>.pb`, `memory` owns the result.
Code ReadModel(PbBytes bytes, MemoryArena* memory, const ErrorSink& errors, Model* model);

// The last part of ReadModel: every value is defined once, before its uses and where they can see it.
Code CheckDefinitions(const Model& model, MemoryArena* memory, const ErrorSink& errors);

// The dimensions as numbers. False where one is negative, or where the bytes of the tensor leave kMaxBytes.
bool EvaluateShape(const Model& model, Span<const DimSpec> dims, DType dtype, Span<const int64_t> symbols,
                   Shape* shape);
bool EvaluateDimSpec(const Model& model, const DimSpec& dim, Span<const int64_t> symbols, int64_t* result);

// The symbol that the dimension is, where it is nothing more than that; else -1.
int64_t BareSymbol(const Model& model, const DimSpec& dim);

// `index` where it is the index of an element type, else kNone.
DType DTypeFromCode(uint64_t index);

}  // namespace lathe

#endif  // LATHE_RUNTIME_MODEL_H_
