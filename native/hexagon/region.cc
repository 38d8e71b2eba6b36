// Preparing a part for the DSP, and running it.
#include "native/hexagon/region.h"

#include <string.h>

#include "native/runtime/clock.h"
#include "native/runtime/session.h"

namespace lathe {
namespace hexagon {

namespace {

constexpr size_t kMostBuffers = 250;  // FastRPC counts them with 8 bits, and some are ours

bool IsCopy(const Node& node) { return strcmp(node.op, "to_device") == 0 || strcmp(node.op, "from_device") == 0; }

// Calls `f(tensor, at, bytes)` for what the nodes of a part give, as Wish::kValues has it.
template <typename F>
void ForValues(const Part& part, Span<Tensor> tensors, const F& f) {
  size_t at = 0;
  for (const Node& inner : part.node->regions[0].nodes) {
    if (IsCopy(inner)) continue;
    for (const uint32_t value : inner.outputs) {
      const Tensor& tensor = tensors[value];
      const size_t bytes = static_cast<size_t>(tensor.shape.Count()) * SizeOf(tensor.dtype);
      f(tensor, at, bytes);
      at += AlignUp(bytes);
    }
  }
}

// What the node gives is what its region gives, and nothing in the region has regions of its own.
Code CheckPart(const PrepareContext& context, const Node& node) {
  const RegionTensors body = context.region(0);
  if (body.input_count() != 0) return context.Fail(Code::kBadModel, "its region has inputs");
  if (body.output_count() != context.output_count())
    return context.Fail(Code::kBadModel, "its region has another number of outputs than the node");
  for (int i = 0; i < body.output_count(); ++i) {
    if (body.output(i).dtype != context.output(i).dtype || body.output(i).shape != context.output(i).shape)
      return context.Fail(Code::kBadModel, "output %d has another type than what its region gives", i);
  }
  for (const Node& inner : node.regions[0].nodes) {
    if (!inner.regions.empty()) return context.Fail(Code::kUnsupported, "a node of its region has regions");
    if (IsCopy(inner) && inner.inputs.size() != 1)
      return context.Fail(Code::kBadModel, "a copy in its region has not one input");
  }
  if (context.dynamic()) return context.Fail(Code::kUnsupported, "the DSP runs parts of fixed sizes only");
  return Code::kOk;
}

Code ReadHead(const PrepareContext& context, PartHead* head, lathe_bytes* program) {
  if (context.input_count() != 1) return context.Fail(Code::kUnsupported, "it has no program for the DSP");
  const Tensor& input = context.input(0);
  const size_t size = static_cast<size_t>(input.shape.Count());
  if (input.dtype != DType::kU8 || !input.is_constant() || size < sizeof *head)
    return context.Fail(Code::kBadModel, "its program for the DSP is not a constant of bytes");
  memcpy(head, input.data, sizeof *head);
  if (head->magic != kPartMagic)
    return context.Fail(Code::kUnsupported, "its program for the DSP is of another version of Lathe");
  *program = {input.As<uint8_t>() + sizeof *head, size - sizeof *head};
  return Code::kOk;
}

bool Contains(Span<const Tensor*> tensors, size_t count, const Tensor* wanted) {
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i] == wanted) return true;
  }
  return false;
}

// The values that the region reads from around it, and its constants, each once, in the order of its nodes.
Code FindOperands(PrepareContext& context, const Node& node, Dsp* dsp, Part* part) {
  const Span<const Tensor> tensors = context.view().tensors();
  size_t copies = 0, constants = 0;
  for (const Node& inner : node.regions[0].nodes) {
    copies += strcmp(inner.op, "to_device") == 0 ? 1 : 0;
    constants += inner.inputs.size();
  }
  if (copies > kMostBuffers || node.outputs.size() > kMostBuffers)
    return context.Fail(Code::kUnsupported, "it has too many inputs or outputs for one call of the DSP");
  Span<const Tensor*> found;
  if (!dsp->memory().NewArray(copies, &part->inputs) || !dsp->memory().NewArray(constants, &found))
    return context.Fail(Code::kOutOfMemory, "there is no memory for it");
  copies = constants = 0;
  for (const Node& inner : node.regions[0].nodes) {
    if (strcmp(inner.op, "to_device") == 0) {
      part->inputs[copies++] = inner.inputs[0];
      continue;
    }
    for (const uint32_t value : inner.inputs) {
      const Tensor* tensor = &tensors[value];
      if (!tensor->is_constant() || Contains(found, constants, tensor)) continue;
      if (tensor->packing != Packing::kNone)
        return context.Fail(Code::kUnsupported, "a constant of its region is packed");
      found[constants++] = tensor;
      part->data_size += AlignUp(static_cast<size_t>(tensor->shape.Count()) * SizeOf(tensor->dtype));
    }
  }
  part->constants = Span<const Tensor*>(found.data(), constants);
  return Code::kOk;
}

// The number of the first node of the region.
size_t FirstOf(const Engine& engine, const Node& node) {
  size_t number = 0;
  while (engine.nodes()[number].node != &node) ++number;
  return number + 1;
}

Code TryPart(PrepareContext& context, RegionState* state) {
  const Node& node = context.view().node();
  PartHead head = {};
  lathe_bytes program = {};
  LATHE_TRY(ReadHead(context, &head, &program));
  LATHE_TRY(CheckPart(context, node));
  Dsp* dsp = Dsp::Of(&context.engine());
  if (dsp == nullptr) return context.Fail(Code::kOutOfMemory, "there is no memory for a device");
  auto* part = static_cast<Part*>(dsp->memory().Allocate(sizeof(Part)));
  if (part == nullptr) return context.Fail(Code::kOutOfMemory, "there is no memory for it");
  part->node = &node;
  part->first = FirstOf(context.engine(), node);
  part->program = program;
  LATHE_TRY(FindOperands(context, node, dsp, part));
  if (dsp->AddPart(head, part) != Code::kOk) return context.Fail(Code::kUnsupported, "%s", dsp->reason());
  *state = {dsp, part};
  return Code::kOk;
}

}  // namespace

// Whatever the DSP cannot do, the processor does instead, unless the application wants none of that.
Code PreparePart(PrepareContext& context) {
  const Code code = TryPart(context, static_cast<RegionState*>(context.state()));
  if (code != Code::kUnsupported || context.engine().device_options().kind != LATHE_DEVICE_DSP) return code;
  char why[sizeof(lathe_error::message)];
  memcpy(why, context.view().errors().message(), sizeof why);
  return context.Fail(Code::kInternal, "the DSP does not run it, and the application asks for the DSP: %.350s", why);
}

// Memory for what a run may wish besides its outputs.
Code PlanPart(PlanContext& context) {
  const auto& state = *static_cast<const RegionState*>(context.state());
  size_t size = 0;
  if (context.session().keeps_all()) {
    ForValues(*state.part, context.session().tensors(),
              [&](const Tensor&, size_t at, size_t bytes) { size = at + bytes; });
  } else {
    size = state.part->node->regions[0].nodes.size() * sizeof(NodeTime);
  }
  context.RequestScratch(size);
  static_cast<RegionPlan*>(context.plan())->wished_bytes = size;
  return Code::kOk;
}

namespace {

LATHE_INLINE void Place(Argument* argument, const Tensor& tensor) {
  argument->buffer = {tensor.data, static_cast<size_t>(tensor.shape.Count()) * SizeOf(tensor.dtype)};
}

// To where the session keeps what nodes give. The borders are copies: what goes in comes out.
void KeepValues(const Part& part, Span<Tensor> tensors, const uint8_t* values) {
  ForValues(part, tensors, [&](const Tensor& tensor, size_t at, size_t bytes) {
    if (tensor.data != nullptr && bytes > 0) memcpy(tensor.data, values + at, bytes);
  });
  for (const Node& inner : part.node->regions[0].nodes) {
    if (!IsCopy(inner)) continue;
    const Tensor& from = tensors[inner.inputs[0]];
    const Tensor& to = tensors[inner.outputs[0]];
    const size_t bytes = static_cast<size_t>(from.shape.Count()) * SizeOf(from.dtype);
    if (from.data != nullptr && to.data != nullptr && bytes > 0) memcpy(to.data, from.data, bytes);
  }
}

// One node after the other, behind the start of the run: the DSP has a clock of its own.
void TellTimes(const Part& part, NodeRegions* regions, int64_t start, const NodeTime* times) {
  const Span<Node> nodes = part.node->regions[0].nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (IsCopy(nodes[i])) continue;
    const int64_t end = start + static_cast<int64_t>((times++)->nanoseconds);
    regions->Observe(part.first + i, "dsp", start, end);
    start = end;
  }
}

}  // namespace

void RunPart(const RunContext& context) {
  const RegionState& state = context.State<RegionState>();
  const Part& part = *state.part;
  NodeRegions* regions = context.regions;
  const Session& session = regions->session();
  const Span<Tensor> tensors = session.tensors();
  const size_t inputs = part.inputs.size(), outputs = static_cast<size_t>(context.output_count);
  Argument arguments[2 * kMostBuffers + 3];
  for (size_t i = 0; i < inputs; ++i) Place(&arguments[1 + i], tensors[part.inputs[i]]);
  for (size_t i = 0; i < outputs; ++i) Place(&arguments[2 + inputs + i], context.outputs[i]);
  arguments[2 + inputs + outputs].buffer = {context.scratch, context.Plan<RegionPlan>().wished_bytes};
  const Wish wish = session.keeps_all() ? Wish::kValues : session.is_observed() ? Wish::kTimes : Wish::kNothing;
  const int64_t start = NowNanoseconds();
  const Code code = state.dsp->Run(part, inputs, outputs, wish, arguments, regions->errors());
  regions->set_code(code);
  if (code != Code::kOk) return;
  if (wish == Wish::kValues) KeepValues(part, tensors, static_cast<const uint8_t*>(context.scratch));
  if (wish == Wish::kTimes) TellTimes(part, regions, start, static_cast<const NodeTime*>(context.scratch));
}

}  // namespace hexagon
}  // namespace lathe
