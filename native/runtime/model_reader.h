// The reader behind ReadModel. One function per message of container.proto; each leaves a message and a code where the
// file breaks a rule.
#ifndef LATHE_RUNTIME_MODEL_READER_H_
#define LATHE_RUNTIME_MODEL_READER_H_

#include "native/runtime/model.h"

namespace lathe {

class ModelReader : ErrorSink {
 public:
  ModelReader(MemoryArena* memory, const ErrorSink& errors, Model* model)
      : ErrorSink(errors), memory_(memory), model_(model) {}

  Code Read(PbBytes bytes);

 private:
  // model.cc
  Code ReadGraph(PbBytes message);
  Code ReadSymbol(PbBytes message, DimSymbol* symbol);
  Code ReadExpr(PbBytes message, DimProgram* expr);
  Code ReadFormats(PbBytes message, uint32_t number, size_t count, Span<const char*>* formats);
  Code ReadPlan(PbBytes message);
  Code ReadNodePlan(PbBytes message, Span<const char*>* kernels);
  Code ReadPlacement(PbBytes message, Placement* placement);
  void AssignKernels(Region* region, const Span<const char*>** next);

  // model_values.cc
  Code ReadValue(PbBytes message, Value* value);
  Code ReadConstant(PbBytes message, Value* value, uint64_t* size);
  Code CheckConstant(const Value& value, uint64_t size);
  Code ReadQuant(PbBytes message, Value* value);
  Code ReadDims(PbBytes message, uint32_t number, const char* owner, size_t limit, Span<DimSpec>* dims);
  Code ReadDim(PbBytes message, DimSpec* dim);

  // model_nodes.cc
  Code ReadRegion(PbBytes message, Region* region);
  Code ReadNode(PbBytes message, Node* node);
  Code ReadAttr(PbBytes message, Attr* attr);
  Code ReadAttrField(const PbField& field, Attr* attr);
  Code ReadIndices(PbBytes message, uint32_t number, const char* owner, Span<uint32_t>* indices);

  // Shared by all (model.cc).
  Code Malformed(const char* what) const;
  Code OutOfMemory() const;
  Code ReadString(PbBytes bytes, const char** text);

  // All scalars of one repeated field: as int64_t those that are zigzag-coded, as uint32_t others, the largest for all
  // that are larger, or as float.
  template <typename T>
  Code ReadScalars(PbBytes message, uint32_t tag, Span<T>* scalars) {
    Span<uint8_t> plain;
    const Code code = ReadScalars(message, tag, sizeof(T), &plain);
    *scalars = Span<T>(reinterpret_cast<T*>(plain.data()), plain.size());
    return code;
  }
  Code ReadScalars(PbBytes message, uint32_t tag, size_t element_size, Span<uint8_t>* scalars);

  template <typename T>
  Code NewArray(size_t count, Span<T>* array) const {
    return memory_->NewArray(count, array) ? Code::kOk : OutOfMemory();
  }

  // All messages of one repeated field, read into an array of as many elements. `what` holds them.
  template <typename T, Code (ModelReader::*read)(PbBytes, T*)>
  Code ReadList(PbBytes message, uint32_t number, size_t limit, const char* what, Span<T>* list) {
    const auto read_one = [](ModelReader* reader, PbBytes bytes, void* element) {
      return (reader->*read)(bytes, static_cast<T*>(element));
    };
    List plain = {what, limit, sizeof(T), {}};
    const Code code = ReadMessages(message, PbString(number), read_one, &plain);
    *list = Span<T>(reinterpret_cast<T*>(plain.elements.data()), plain.elements.size());
    return code;
  }
  struct List {
    const char* what;
    size_t limit;
    size_t element_size;
    Span<uint8_t> elements;  // counted, not bytes
  };
  Code ReadMessages(PbBytes message, uint32_t tag, Code (*read_one)(ModelReader*, PbBytes, void*), List* list);

  MemoryArena* memory_;
  Model* model_;
  size_t node_count_ = 0;
  int depth_ = 0;           // of regions
  const char* owner_ = "";  // of the dimensions that are read
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_MODEL_READER_H_
