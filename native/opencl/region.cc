// The kernel of device_region: preparing and planning a part, and running it.
#include "native/opencl/region.h"

#include <string.h>

#include "native/opencl/planner.h"
#include "native/opencl/tuner.h"

namespace lathe {
namespace opencl {

namespace {

bool IsWord(Span<const char> text, const char* word) {
  return text.size() == strlen(word) && memcmp(text.data(), word, text.size()) == 0;
}

Code ReadSettings(const PrepareContext& context, const DeviceFacts& facts, PartSettings* settings) {
  Span<const char> memory, storage, arithmetic;
  int64_t winograd = 0, window = 0, microseconds = 0;
  LATHE_TRY(context.String("memory", &memory));
  LATHE_TRY(context.String("storage", &storage));
  LATHE_TRY(context.String("arithmetic", &arithmetic));
  LATHE_TRY(context.Int("winograd", &winograd));
  LATHE_TRY(context.Int("opencl_queue_window_size", &window));
  LATHE_TRY(context.Int("kernel_microseconds", &microseconds));
  if (winograd < 0 || winograd > 4 || window < 0 || window > INT32_MAX || microseconds < 0 || microseconds > INT32_MAX)
    return context.Fail(Code::kBadModel, "an attribute of it is out of range");
  settings->images = IsWord(memory, "image") && facts.images;
  settings->half = IsWord(storage, "f16");
  settings->half_arithmetic = IsWord(arithmetic, "f16") && facts.half;
  settings->winograd = static_cast<int32_t>(winograd);
  settings->opencl_queue_window_size = static_cast<uint32_t>(window);
  settings->kernel_microseconds = static_cast<uint32_t>(microseconds);
  return Code::kOk;
}

// What the node gives is what its region gives, and nothing in the region has regions of its own.
Code CheckPart(const PrepareContext& context, const ::lathe::Node& node) {
  const RegionTensors body = context.region(0);
  if (body.input_count() != 0) return context.Fail(Code::kBadModel, "its region has inputs");
  if (body.output_count() != context.output_count())
    return context.Fail(Code::kBadModel, "its region has another number of outputs than the node");
  for (int i = 0; i < body.output_count(); ++i) {
    if (body.output(i).dtype != context.output(i).dtype || body.output(i).shape.rank != context.output(i).shape.rank)
      return context.Fail(Code::kBadModel, "output %d has another type than what its region gives", i);
  }
  for (const ::lathe::Node& inner : node.regions[0].nodes) {
    if (!inner.regions.empty()) return context.Fail(Code::kUnsupported, "a node of its region has regions");
  }
  return Code::kOk;
}

// The number of the first node of the region.
size_t FirstOf(const Engine& engine, const ::lathe::Node& node) {
  size_t number = 0;
  while (engine.nodes()[number].node != &node) ++number;
  return number + 1;
}

Code TryPart(PrepareContext& context, Runtime* runtime, RegionState* state) {
  const NodeView& view = context.view();
  if (!runtime->usable()) return context.Fail(Code::kUnsupported, "%s", runtime->reason());
  PartSettings settings;
  LATHE_TRY(ReadSettings(context, runtime->facts(), &settings));
  LATHE_TRY(CheckPart(context, view.node()));
  Part* part = runtime->AddPart(&view.node(), FirstOf(context.engine(), view.node()), settings);
  if (part == nullptr) return context.Fail(Code::kOutOfMemory, "there is no memory for it");
  MemoryArena memory(runtime->allocator());
  Planner planner(runtime, part, view, &memory, false);
  Code code = planner.Plan();
  if (code == Code::kOk) code = planner.BuildPrograms();
  if (code == Code::kOk) runtime->programs().Flush();
  if (code != Code::kOk) {
    runtime->RemovePart(part);
    return code;
  }
  *state = {runtime, part};
  return Code::kOk;
}

Code PlanSession(PlanContext& context, SessionPart* part) {
  Planner planner(part->runtime, part->part, context.view(), &part->memory, context.session().keeps_all());
  LATHE_TRY(planner.Plan());
  part->launches = planner.launches();
  part->transfers = planner.transfers();
  int32_t blocks = 0;
  const Span<DeviceTensor*> pooled = planner.Pooled(&blocks);
  if (pooled.data() == nullptr && part->launches != nullptr)
    return context.Fail(Code::kOutOfMemory, "there is no memory to plan it");
  return part->Realise(context, pooled, blocks);
}

}  // namespace

// Whatever a device cannot do, the processor does instead, unless the application wants none of that. Models that are
// wrong are wrong for both.
Code PreparePart(PrepareContext& context) {
  Runtime* runtime = Runtime::Of(&context.engine());
  if (runtime == nullptr) return context.Fail(Code::kOutOfMemory, "there is no memory for a device");
  const Code code = TryPart(context, runtime, static_cast<RegionState*>(context.state()));
  if (code == Code::kOk || code == Code::kBadModel) return code;
  if (runtime->usable()) runtime->reason_to_write().Fail(code, "%s", context.view().errors().message());
  if (context.engine().device_options().kind != LATHE_DEVICE_GPU)
    return Code::kUnsupported;  // the next kernel is tried
  if (code != Code::kUnsupported) return code;
  return context.Fail(Code::kInternal, "no GPU runs it, and the application asks for one: %s", runtime->reason());
}

Code PlanPart(PlanContext& context) {
  const auto& state = *static_cast<const RegionState*>(context.state());
  const RegionTensors body = context.region(0);
  for (int i = 0; i < context.output_count(); ++i) {
    if (body.output(i).shape != context.output(i).shape)
      return context.Fail(Code::kBadModel, "output %d has another shape than what its region gives", i);
  }
  SessionPart* part = state.runtime->NewSessionPart(&context.session(), state.part);
  if (part == nullptr) return context.Fail(Code::kOutOfMemory, "there is no memory to plan it");
  static_cast<RegionPlan*>(context.plan())->part = part;
  LATHE_TRY(PlanSession(context, part));
  bool better = false;
  TunePart(context, context.view(), part, &better);
  if (!better) return Code::kOk;
  part->Clear();
  return PlanSession(context, part);
}

void RunPart(const RunContext& context) {
  SessionPart* part = context.Plan<RegionPlan>().part;
  context.regions->set_code(part->Run(context.regions, context));
}

}  // namespace opencl
}  // namespace lathe
