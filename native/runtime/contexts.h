// What kernels see of the core in `prepare` and `plan`.
#ifndef LATHE_RUNTIME_CONTEXTS_H_
#define LATHE_RUNTIME_CONTEXTS_H_

#include "native/runtime/engine.h"
#include "native/runtime/planner.h"

namespace lathe {

class Session;

// Attributes and tensors of one node, for both contexts.
class NodeView {
 public:
  // `workspace` takes the numbers of the attributes that are dimensions: DimsElements(node) of them.
  NodeView(const Model& model, const Node& node, Span<const Tensor> tensors, Span<const int64_t> symbols,
           Span<int64_t> workspace, const ErrorSink& errors)
      : model_(model), node_(node), tensors_(tensors), symbols_(symbols), workspace_(workspace), errors_(errors) {}

  static size_t DimsElements(const Node& node);

  const Tensor& Operand(Span<uint32_t> operands, int index) const;
  RegionTensors RegionAt(int index) const {
    const Region& region = node_.regions[static_cast<size_t>(index)];
    return {region.inputs, region.outputs, tensors_.data()};
  }
  // The attribute, or a message that says what is wrong with it.
  Code Find(const char* name, AttrKind kind, AttrKind other, const Attr** attr) const;
  Code Ints(const char* name, Span<const int64_t>* values) const;
  // "node 'x' (conv2d): " and the text.
  Code Report(Code code, const char* format, va_list* arguments) const;
  LATHE_MESSAGE_FUNCTION(Code Fail(Code code, const char*, ...) const, 3, 4, Report(code, nullptr, nullptr))

  const Node& node() const { return node_; }
  const Model& model() const { return model_; }
  Span<const Tensor> tensors() const { return tensors_; }
  Span<const int64_t> symbols() const { return symbols_; }
  const ErrorSink& errors() const { return errors_; }

 private:
  const Model& model_;
  const Node& node_;
  Span<const Tensor> tensors_;
  Span<const int64_t> symbols_;
  Span<int64_t> workspace_;
  const ErrorSink& errors_;
};

class NodePrepare final : public PrepareContext {
 public:
  NodePrepare(const NodeView& view, Engine* engine, bool dynamic, void* state)
      : PrepareContext(view, engine), dynamic_(dynamic), state_(state) {}

  Code Int(const char* name, int64_t* value) const override;
  Code Float(const char* name, float* value) const override;
  Code String(const char* name, Span<const char>* value) const override;
  Code Ints(const char* name, Span<const int64_t>* values) const override { return view().Ints(name, values); }
  Code Floats(const char* name, Span<const float>* values) const override;

  int input_count() const override { return static_cast<int>(view().node().inputs.size()); }
  int output_count() const override { return static_cast<int>(view().node().outputs.size()); }
  const Tensor& input(int index) const override { return view().Operand(view().node().inputs, index); }
  const Tensor& output(int index) const override { return view().Operand(view().node().outputs, index); }
  RegionTensors region(int index) const override { return view().RegionAt(index); }
  bool dynamic() const override { return dynamic_; }
  void* Allocate(size_t bytes) override { return engine().AllocateWeights(bytes); }
  void* state() override { return state_; }

 private:
  Code Report(Code code, const char* format, va_list* arguments) const override {
    return view().Report(code, format, arguments);
  }

  bool dynamic_;
  void* state_;
};

class NodePlan final : public PlanContext {
 public:
  NodePlan(const NodeView& view, Session* session, Span<PartOf> parts, const void* state, void* plan, int threads)
      : PlanContext(view, session), parts_(parts), state_(state), plan_(plan), threads_(threads) {}

  int input_count() const override { return static_cast<int>(view().node().inputs.size()); }
  int output_count() const override { return static_cast<int>(view().node().outputs.size()); }
  const Tensor& input(int index) const override { return view().Operand(view().node().inputs, index); }
  const Tensor& output(int index) const override { return view().Operand(view().node().outputs, index); }
  RegionTensors region(int index) const override { return view().RegionAt(index); }
  const void* state() const override { return state_; }
  Code Dims(const char* name, Span<const int64_t>* values) override { return view().Ints(name, values); }
  void* plan() override { return plan_; }
  int threads() const override { return threads_; }
  void InputInOutput(int input, int64_t at) override {
    SetPart(view().node().inputs[static_cast<size_t>(input)], view().node().outputs[0], at);
  }
  void OutputInInput(int output, int64_t at) override {
    SetPart(view().node().outputs[static_cast<size_t>(output)], view().node().inputs[0], at);
  }
  void RequestScratch(size_t bytes) override { scratch_ = bytes; }

  size_t scratch() const { return scratch_; }

 private:
  Code Report(Code code, const char* format, va_list* arguments) const override {
    return view().Report(code, format, arguments);
  }

  // The first to say so decides.
  void SetPart(uint32_t part, uint32_t whole, int64_t at) {
    if (parts_[part].whole == kNoItem) parts_[part] = {whole, at};
  }

  Span<PartOf> parts_;
  const void* state_;
  void* plan_;
  int threads_;
  size_t scratch_ = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_CONTEXTS_H_
