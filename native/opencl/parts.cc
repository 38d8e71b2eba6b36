#include "native/opencl/parts.h"

#include <string.h>

#include "native/runtime/clock.h"

namespace lathe {
namespace opencl {

namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;

class SinkReporter final : public Reporter {
 public:
  explicit SinkReporter(const ErrorSink& errors) : errors_(errors) {}

 private:
  Code Report(Code code, const char* format, va_list* arguments) const override {
    return errors_.Report(code, "", format, arguments);
  }
  const ErrorSink& errors_;
};

size_t RoundUp(int32_t work, size_t group) { return (static_cast<size_t>(work) + group - 1) / group * group; }

// The largest power of two that is neither above the work nor above the limit.
size_t PowerUpTo(int32_t work, size_t limit) {
  size_t power = 1;
  while (power * 2 <= limit && power < static_cast<size_t>(work)) power *= 2;
  return power;
}

}  // namespace

int64_t NowNanoseconds() { return lathe::NowNanoseconds(); }

Code DeviceFailed(const Reporter& reporter, const Runtime& runtime, const char* function, cl_int error) {
  return reporter.Fail(Code::kInternal,
                       "the device '%s' failed: %s answers %s (%d); make a new engine, with LATHE_DEVICE_CPU if it "
                       "fails again",
                       runtime.facts().name, function, ErrorName(error), static_cast<int>(error));
}

void SessionPart::Clear() {
  const ClApi& api = runtime->api();
  if (launches != nullptr) api.Finish(runtime->queue());
  for (LaunchRecord* record = launches; record != nullptr; record = record->next) {
    if (record->event != nullptr) api.ReleaseEvent(record->event);
    if (record->kernel != nullptr) api.ReleaseKernel(record->kernel);
  }
  ReleaseLent();
  for (OwnedMemory* each = owned; each != nullptr; each = each->next) api.ReleaseMemObject(each->memory);
  runtime->CountMemory(-bytes);
  launches = nullptr;
  transfers = nullptr;
  owned = nullptr;
  outside = nullptr;
  bytes = 0;
  measured = false;
  memory.Clear();
}

Code SessionPart::Own(cl_mem made) {
  auto* each = static_cast<OwnedMemory*>(memory.Allocate(sizeof(OwnedMemory), alignof(OwnedMemory)));
  if (each == nullptr) {
    runtime->api().ReleaseMemObject(made);
    return Code::kOutOfMemory;
  }
  *each = {owned, made};
  owned = each;
  return Code::kOk;
}

Code SessionPart::Realise(const Reporter& reporter, Span<DeviceTensor*> pooled, int32_t blocks) {
  LATHE_TRY(MakePool(reporter, pooled, blocks));
  if ((runtime->flags() & LATHE_DEVICE_CHECK) != 0) {
    LATHE_TRY(runtime->MakeMemory(reporter, Home::kNumbers, false, 1, 1, nullptr, kClMemReadWrite, &outside));
    bytes += 4;
    LATHE_TRY(Own(outside));
  }
  for (LaunchRecord* record = launches; record != nullptr; record = record->next)
    LATHE_TRY(MakeKernel(reporter, record));
  return Code::kOk;
}

Code SessionPart::MakePool(const Reporter& reporter, Span<DeviceTensor*> pooled, int32_t blocks) {
  const bool half = part->settings.half;
  for (int32_t block = 0; block < blocks; ++block) {
    int32_t width = 0, height = 0;
    Home home = Home::kBuffer;
    for (const DeviceTensor* tensor : pooled) {
      if (tensor->block != block) continue;
      home = tensor->home;
      if (tensor->width > width) width = tensor->width;
      if (tensor->height > height) height = tensor->height;
    }
    cl_mem made = nullptr;
    LATHE_TRY(runtime->MakeMemory(reporter, home, half, width, height, nullptr, kClMemReadWrite, &made));
    bytes += Runtime::BytesOf(home, half, width, height);
    LATHE_TRY(Own(made));
    for (DeviceTensor* tensor : pooled) {
      if (tensor->block == block) tensor->memory = made;
    }
  }
  for (DeviceTensor* tensor : pooled) {
    if (tensor->block != kStaging || tensor->memory != nullptr) continue;
    LATHE_TRY(runtime->MakeMemory(reporter, Home::kNumbers, false, tensor->width, 1, nullptr,
                                  kClMemReadWrite | kClMemAllocHostPtr, &tensor->memory));
    bytes += int64_t{tensor->width} * 4;
    LATHE_TRY(Own(tensor->memory));
  }
  return Code::kOk;
}

Code SessionPart::MakeKernel(const Reporter& reporter, LaunchRecord* record) {
  cl_program program = nullptr;
  LATHE_TRY(runtime->programs().Get(record->unit, record->options, reporter, &program));
  cl_int error = kClSuccess;
  record->kernel = runtime->api().CreateKernel(program, record->function, &error);
  if (error != kClSuccess) {
    record->kernel = nullptr;
    return reporter.Fail(Code::kInternal, "unit '%s' has no kernel '%s': %s", GetUnits().units[record->unit].name,
                         record->function, ErrorName(error));
  }
  LATHE_TRY(SetArguments(reporter, record));
  ChooseGroup(record);
  return Code::kOk;
}

Code SessionPart::SetArguments(const Reporter& reporter, LaunchRecord* record) {
  cl_uint index = 0;
  cl_int error = kClSuccess;
  const auto set = [&](size_t size, const void* value) {
    if (error == kClSuccess) error = runtime->api().SetKernelArg(record->kernel, index++, size, value);
  };
  if (outside != nullptr) set(sizeof(outside), &outside);
  for (const int32_t& work : record->work) set(sizeof(work), &work);
  for (int32_t i = 0; i < record->argument_count; ++i) {
    const LaunchArgument& argument = record->arguments[i];
    if (argument.kind != LaunchArgument::kTensor) {
      set(sizeof(argument.number), &argument.number);  // floats are as long
      continue;
    }
    set(sizeof(argument.tensor->memory), &argument.tensor->memory);
    if (argument.tensor->home != Home::kBuffer) continue;
    set(sizeof(argument.tensor->width), &argument.tensor->width);
    set(sizeof(argument.tensor->height), &argument.tensor->height);
  }
  if (error == kClSuccess) return Code::kOk;
  return reporter.Fail(Code::kInternal, "argument %u of kernel '%s' does not fit: %s", index - 1, record->function,
                       ErrorName(error));
}

size_t SessionPart::MostItems(const LaunchRecord& record) const {
  const size_t most = runtime->facts().max_group;
  size_t of_kernel = 0;
  if (runtime->api().GetKernelWorkGroupInfo(record.kernel, runtime->device(), kClKernelWorkGroupSize, sizeof(of_kernel),
                                            &of_kernel, nullptr) == kClSuccess &&
      of_kernel != 0 && of_kernel < most)
    return of_kernel;
  return most;
}

void SessionPart::SetGroup(LaunchRecord* record, const size_t (&sizes)[3]) const {
  record->driver_chooses = sizes[0] == 0;
  for (int axis = 0; axis < 3; ++axis) {
    record->local[axis] = record->driver_chooses ? 1 : sizes[axis];
    record->global[axis] = RoundUp(record->work[axis], record->local[axis]);
  }
}

// Neighbours of a row in one group: their reads are next to each other. Processors, which run a group as a loop, get
// always the same one, as they compile a kernel for each.
void SessionPart::ChooseGroup(LaunchRecord* record) {
  constexpr cl_device_type kCpu = kClDeviceTypeCpu;
  const DeviceFacts& facts = runtime->facts();
  const size_t most = MostItems(*record);
  size_t left = most < 128 ? most : 128;
  size_t sizes[3];
  for (int axis = 0; axis < 3; ++axis) {
    size_t size = 1;
    if (record->group[axis] != 0) {
      size = static_cast<size_t>(record->group[axis]);
    } else if (facts.type == kCpu) {
      size = axis == 0 && most >= 8 ? 8 : 1;
    } else {
      const size_t limit = axis == 0 ? (left < 16 ? left : 16) : left;
      size = PowerUpTo(record->work[axis], limit < facts.max_items[axis] ? limit : facts.max_items[axis]);
      left /= size;
    }
    sizes[axis] = size;
  }
  SetGroup(record, sizes);
  UseTuned(record);
  record->pieces = 1;
}

// In pieces along the axis that has most groups, where a kernel takes longer than it may.
Code SessionPart::Enqueue(const Reporter& reporter, LaunchRecord* record, bool timed) {
  const ClApi& api = runtime->api();
  int axis = 0;
  for (int other = 1; other < 3; ++other) {
    if (record->global[other] / record->local[other] > record->global[axis] / record->local[axis]) axis = other;
  }
  const size_t groups = record->global[axis] / record->local[axis];
  const size_t pieces = static_cast<size_t>(record->pieces) < groups ? static_cast<size_t>(record->pieces) : groups;
  const size_t step = (groups + pieces - 1) / pieces * record->local[axis];
  if (record->event != nullptr) api.ReleaseEvent(record->event);
  record->event = nullptr;
  const bool measures = runtime->profiles() && pieces == 1;  // of several pieces each would have a time of its own
  if (timed) record->start_ns = NowNanoseconds();
  for (size_t at = 0; at < record->global[axis]; at += step) {
    size_t offset[3] = {0, 0, 0};
    size_t global[3] = {record->global[0], record->global[1], record->global[2]};
    offset[axis] = at;
    global[axis] = record->global[axis] - at < step ? record->global[axis] - at : step;
    const cl_int error = api.EnqueueNDRangeKernel(runtime->queue(), record->kernel, 3, offset, global,
                                                  record->driver_chooses ? nullptr : record->local, 0, nullptr,
                                                  measures ? &record->event : nullptr);
    if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clEnqueueNDRangeKernel", error);
    if (pieces > 1) api.Flush(runtime->queue());
  }
  if (!timed || measures) return Code::kOk;
  const cl_int error = api.Finish(runtime->queue());
  record->end_ns = NowNanoseconds();
  return error == kClSuccess ? Code::kOk : DeviceFailed(reporter, *runtime, "clFinish", error);
}

// Whatever fails, the host's memory belongs to the host again afterwards.
Code SessionPart::Run(NodeRegions* regions, const RunContext& context) {
  const SinkReporter reporter(regions->errors());
  const Code code = RunAll(reporter, regions, context);
  if (code != Code::kOk) runtime->api().Finish(runtime->queue());
  return code;
}

Code SessionPart::RunAll(const Reporter& reporter, NodeRegions* regions, const RunContext& context) {
  const ClApi& api = runtime->api();
  const bool observed = regions->session().is_observed();
  const uint32_t window =
      runtime->queue_window() != 0 ? runtime->queue_window() : part->settings.opencl_queue_window_size;
  const bool timed = observed || (!measured && KernelLimit() != 0);
  if (outside != nullptr) {
    const int32_t none = 0;
    const cl_int error =
        api.EnqueueWriteBuffer(runtime->queue(), outside, kClTrue, 0, sizeof(none), &none, 0, nullptr, nullptr);
    if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clEnqueueWriteBuffer", error);
  }
  LATHE_TRY(Bind(reporter, regions->session(), context));
  LATHE_TRY(CopyAll(reporter, regions->session(), false));
  uint32_t waiting = 0;
  for (LaunchRecord* record = launches; record != nullptr; record = record->next) {
    LATHE_TRY(Enqueue(reporter, record, timed));
    if (window == 0 || ++waiting < window) continue;
    const cl_int error = api.Finish(runtime->queue());
    if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clFinish", error);
    waiting = 0;
  }
  // Measured as it is waited for: what a copy waits for is not its own.
  const cl_int error = api.Finish(runtime->queue());
  if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clFinish", error);
  LATHE_TRY(CopyAll(reporter, regions->session(), true));
  if (outside != nullptr) LATHE_TRY(CheckOutside(reporter));
  return observed || !measured ? Tell(reporter, regions) : Code::kOk;
}

Code SessionPart::CheckOutside(const Reporter& reporter) {
  int32_t count = 0;
  const cl_int error = runtime->api().EnqueueReadBuffer(runtime->queue(), outside, kClTrue, 0, sizeof(count), &count, 0,
                                                        nullptr, nullptr);
  if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clEnqueueReadBuffer", error);
  if (count == 0) return Code::kOk;
  return reporter.Fail(Code::kInternal, "kernels read or wrote %d times outside of a tensor", static_cast<int>(count));
}

// Times of kernels: to whoever observes, and to what cuts long kernels into pieces.
Code SessionPart::Tell(const Reporter& reporter, NodeRegions* regions) {
  const ClApi& api = runtime->api();
  const uint32_t limit = KernelLimit();
  const bool observed = regions->session().is_observed();
  const size_t first = part->first;
  for (Transfer* each = transfers; observed && each != nullptr; each = each->next) {
    if (!each->to_host) regions->Observe(first + each->node, "copy", each->start_ns, each->end_ns);
  }
  int64_t origin = 0;  // of the device's clock on ours
  for (LaunchRecord* record = launches; record != nullptr; record = record->next) {
    int64_t start = record->start_ns, end = record->end_ns;
    if (record->event != nullptr) {
      cl_ulong from = 0, to = 0;
      cl_int error = api.GetEventProfilingInfo(record->event, kClProfilingCommandStart, sizeof(from), &from, nullptr);
      if (error == kClSuccess)
        error = api.GetEventProfilingInfo(record->event, kClProfilingCommandEnd, sizeof(to), &to, nullptr);
      if (error != kClSuccess) return DeviceFailed(reporter, *runtime, "clGetEventProfilingInfo", error);
      if (origin == 0) origin = record->start_ns - static_cast<int64_t>(from);
      start = origin + static_cast<int64_t>(from);
      end = origin + static_cast<int64_t>(to);
    }
    if (limit != 0 && !measured && end > start) {
      const int64_t longest = limit * kNanosecondsPerMicrosecond;
      record->pieces = static_cast<int32_t>((end - start + longest - 1) / longest);
    }
    if (observed) regions->Observe(first + record->node, GetUnits().units[record->unit].name, start, end);
  }
  for (Transfer* each = transfers; observed && each != nullptr; each = each->next) {
    if (each->to_host) regions->Observe(first + each->node, "copy", each->start_ns, each->end_ns);
  }
  measured = true;
  return Code::kOk;
}

}  // namespace opencl
}  // namespace lathe
