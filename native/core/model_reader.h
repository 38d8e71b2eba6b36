// The reader behind ReadModel. One function per message of container.proto; each leaves a message and a code where the
// file breaks a rule.
#ifndef LATHE_CORE_MODEL_READER_H_
#define LATHE_CORE_MODEL_READER_H_

#include "native/core/model.h"

namespace lathe {

class ModelReader {
 public:
  ModelReader(MemoryArena* memory, const ErrorSink& errors, Model* model)
      : memory_(memory), errors_(errors), model_(model) {}

  Code Read(PbBytes bytes);

 private:
  // model.cc
  Code ReadGraph(PbBytes message);
  Code ReadSymbols(PbBytes graph);
  Code ReadSymbol(PbBytes message, DimSymbol* symbol);
  Code ReadExprs(PbBytes graph);
  Code ReadFormats(PbBytes message, uint32_t number, size_t count, Span<const char*>* formats);
  Code ReadPlan(PbBytes message);
  Code ReadPlacement(PbBytes message, Placement* placement);
  Code AssignKernels(Region* region, Span<PbBytes> kernels, size_t* next);

  // model_values.cc
  Code ReadValues(PbBytes graph);
  Code ReadValue(PbBytes message, Value* value);
  Code ReadConstant(PbBytes message, Value* value, uint64_t* size);
  Code CheckConstant(const Value& value, uint64_t size);
  Code ReadQuant(PbBytes message, const Value& value);
  Code ReadDims(PbBytes message, uint32_t number, const char* owner, size_t limit, Span<DimSpec>* dims);
  Code ReadDim(PbBytes message, const char* owner, DimSpec* dim);

  // model_nodes.cc
  Code ReadRegion(PbBytes message, int depth, Region* region);
  Code ReadNode(PbBytes message, int depth, Node* node);
  Code ReadAttr(PbBytes message, const char* node, Attr* attr);
  Code ReadAttrField(const PbField& field, Attr* attr);
  Code ReadIndices(PbBytes message, uint32_t number, const char* owner, Span<uint32_t>* indices);

  // Shared by all (model.cc).
  Code Bad(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  Code Malformed(const char* what) const { return Bad("%s is cut off or malformed", what); }
  Code ReadString(const PbField& field, const char* what, const char** text) const;
  // The number of occurrences of a field of messages or strings.
  Code CountMessages(PbBytes message, uint32_t number, size_t limit, const char* what, size_t* count) const;
  template <typename T>
  Code NewArray(size_t count, Span<T>* array) const {
    return memory_->NewArray(count, array) ? Code::kOk : errors_.OutOfMemory("the model", count * sizeof(T));
  }

  MemoryArena* memory_;
  ErrorSink errors_;
  Model* model_;
  size_t node_count_ = 0;
};

}  // namespace lathe

#endif  // LATHE_CORE_MODEL_READER_H_
