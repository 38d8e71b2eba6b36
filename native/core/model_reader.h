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
  Code ReadQuant(PbBytes message, const Value& value);
  Code ReadDims(PbBytes message, uint32_t number, const char* owner, size_t limit, Span<DimSpec>* dims);
  Code ReadDim(PbBytes message, DimSpec* dim);

  // model_nodes.cc
  Code ReadRegion(PbBytes message, Region* region);
  Code ReadNode(PbBytes message, Node* node);
  Code ReadAttr(PbBytes message, Attr* attr);
  Code ReadAttrField(const PbField& field, Attr* attr);
  Code ReadIndices(PbBytes message, uint32_t number, const char* owner, Span<uint32_t>* indices);

  // Shared by all (model.cc).
  LATHE_MESSAGE_FUNCTION(Code Bad(const char*, ...) const, 2, 3, Report(nullptr, nullptr))
  Code Report(const char* format, va_list* arguments) const {
    return errors_.Report(Code::kBadModel, "bad model: ", format, arguments);
  }
  Code Malformed(const char* what) const { return Bad("%s is cut off or malformed", what); }
  Code ReadString(PbBytes bytes, const char** text);
  Code ReadZigZags(PbBytes message, Span<int64_t>* numbers);  // all of field 1

  template <typename T>
  Code NewArray(size_t count, Span<T>* array) const {
    return memory_->NewArray(count, array) ? Code::kOk : OutOfMemory();
  }
  Code OutOfMemory() const { return errors_.Fail(Code::kOutOfMemory, "out of memory for the model"); }

  // All messages of one repeated field, read into an array of as many elements. `what` holds them.
  template <typename T, Code (ModelReader::*read)(PbBytes, T*)>
  Code ReadList(PbBytes message, uint32_t number, size_t limit, const char* what, Span<T>* list) {
    const auto read_one = [](ModelReader* reader, PbBytes bytes, void* element) {
      return (reader->*read)(bytes, static_cast<T*>(element));
    };
    List plain = {what, limit, sizeof(T), nullptr, 0};
    const Code code = ReadMessages(message, PbString(number), read_one, &plain);
    *list = Span<T>(static_cast<T*>(plain.data), plain.count);
    return code;
  }
  struct List {
    const char* what;
    size_t limit;
    size_t element_size;
    void* data;
    size_t count;
  };
  Code ReadMessages(PbBytes message, uint32_t tag, Code (*read_one)(ModelReader*, PbBytes, void*), List* list);

  MemoryArena* memory_;
  ErrorSink errors_;
  Model* model_;
  size_t node_count_ = 0;
  int depth_ = 0;           // of regions
  const char* owner_ = "";  // of the dimensions that are read
};

}  // namespace lathe

#endif  // LATHE_CORE_MODEL_READER_H_
