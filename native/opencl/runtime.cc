#include "native/opencl/runtime.h"

#include <stdio.h>

#include "native/opencl/parts.h"
#include "native/opencl/pixels.h"

namespace lathe {
namespace opencl {

Runtime* Runtime::Of(Engine* engine) {
  if (engine->device() != nullptr) return static_cast<Runtime*>(engine->device());
  const lathe_allocator& allocator = engine->allocator();
  void* memory = AllocateFrom(allocator, sizeof(Runtime));
  if (memory == nullptr) return nullptr;
  auto* made = new (Place(), memory) Runtime(engine);
  engine->set_device(made);
  made->Open(engine);
  return made;
}

void Runtime::Open(Engine* engine) {
  const lathe_device_options& options = engine->device_options();
  flags_ = options.flags;
  queue_window_ = options.queue_window;
  kernel_microseconds_ = options.kernel_microseconds;
  usable_ = OpenDevice(options) == Code::kOk && OpenPrograms(options) == Code::kOk;
}

Code Runtime::OpenDevice(const lathe_device_options& options) {
  LATHE_TRY(Load(&api_, &reason_));
  LATHE_TRY(ChooseDevice(api_, {}, &device_, &reason_));
  ContextWish wish;
  wish.performance = static_cast<Level>(options.perf_hint < 4 ? options.perf_hint : 0);
  wish.priority = static_cast<Level>(options.priority_hint < 4 ? options.priority_hint : 0);
  profiles_ = wish.profiling = (flags_ & LATHE_DEVICE_PROFILE) != 0 || options.tuning_milliseconds != 0;
  LATHE_TRY(MakeContext(api_, device_, wish, &context_, &reason_));
  host_memory_.Open(api_, device_, context_);
  return MakeQueue(api_, device_, wish, context_, &queue_, &reason_);
}

namespace {

// Keeps what a piece of the room says of itself as the reason why the device is not used.
class ReasonReporter final : public Reporter {
 public:
  explicit ReasonReporter(Reason* reason) : reason_(*reason) {}

 private:
  Code Report(Code code, const char* format, va_list* arguments) const override {
    if (format == nullptr) return code;
    char text[300];
    vsnprintf(text, sizeof(text), format, *arguments);
    return reason_.Fail(code, "%s", text);
  }
  Reason& reason_;
};

}  // namespace

Code Runtime::OpenPrograms(const lathe_device_options& options) {
  const ReasonReporter reporter(&reason_);
  auto* memory = memory_.Allocate(sizeof(ProgramCache), alignof(ProgramCache));
  if (memory == nullptr) return reporter.Fail(Code::kOutOfMemory, "there is no memory for its programs");
  programs_ = new (Place(), memory) ProgramCache(allocator_);
  ProgramSettings settings;
  settings.api = &api_;
  settings.context = context_;
  settings.device = &device_;
  settings.units = &GetUnits();
  settings.library = GetRegistry().library;
  settings.storage_path = options.storage_path;
  settings.reuse = options.rebuilds_programs == 0;
  settings.binary_paths = Span<const char* const>(options.binary_paths, options.binary_path_count);
  if (options.binary.data != nullptr) settings.binaries = Span<const lathe_bytes>(&options.binary, 1);
  LATHE_TRY(programs_->Open(settings, reporter));
  const Code code = tuning_.Open(programs_->identity(), options.tuning_path, options.tuning, GetUnits().tuned,
                                 options.tuning_milliseconds);
  return code == Code::kOk ? code : reporter.Fail(code, "there is no memory for what tuning found");
}

void Runtime::End() {
  while (session_parts_ != nullptr) EndSession(session_parts_->session);
  for (Constant* each = constants_; each != nullptr; each = each->next) api_.ReleaseMemObject(each->memory);
  if (programs_ != nullptr) programs_->~ProgramCache();
  if (queue_ != nullptr) api_.ReleaseCommandQueue(queue_);
  if (context_ != nullptr) api_.ReleaseContext(context_);
  const lathe_allocator allocator = allocator_;
  this->~Runtime();
  allocator.free(allocator.user, this);
}

void Runtime::Info(lathe_device_info* info) const {
  info->kind = parts_ != nullptr ? LATHE_DEVICE_GPU : LATHE_DEVICE_CPU;
  if (device_.id != nullptr) {
    info->device = device_.facts.name;
    info->driver = device_.facts.driver_version;
  }
  if (!reason_.empty()) info->reason = reason_.text();
  if (programs_ == nullptr) return;
  const ProgramStatistics known = programs_->statistics();
  info->programs_built = known.compiled;
  info->programs_loaded = known.from_binaries + known.from_store;
  info->programs_ms =
      static_cast<float>(known.compiled_ms + known.from_binaries_ms + known.from_store_ms + known.reading_ms);
  info->memory = static_cast<size_t>(__atomic_load_n(&memory_in_use_, __ATOMIC_RELAXED));
}

Code Runtime::Data(uint32_t what, const ErrorSink& errors, lathe_bytes* data) {
  const bool programs = what == LATHE_DEVICE_DATA_PROGRAMS;
  if ((!programs && what != LATHE_DEVICE_DATA_TUNING) || programs_ == nullptr || parts_ == nullptr) return Code::kOk;
  const Locked locked(&lock_);
  saved_.Clear();
  Span<const uint8_t> file;
  if (!programs && !tuning_.Save(&saved_, &file)) return errors.OutOfMemory("what tuning found", 0);
  if (programs && !programs_->SaveBinaries(&saved_, &file))
    return errors.Fail(Code::kUnsupported, "the driver does not hand out the binaries of programs");
  *data = {file.data(), file.size()};
  return Code::kOk;
}

const char* Runtime::KernelOf(size_t node) const {
  for (const Part* part = parts_; part != nullptr; part = part->next) {
    if (node < part->first || node - part->first >= part->units.size()) continue;
    const Unit* unit = part->units[node - part->first];
    return unit != nullptr ? unit->name : "copy";
  }
  return nullptr;
}

Part* Runtime::AddPart(const ::lathe::Node* node, size_t first, const PartSettings& settings) {
  auto* part = static_cast<Part*>(memory_.Allocate(sizeof(Part), alignof(Part)));
  Span<const Unit*> units;
  if (part == nullptr || !memory_.NewArray(node->regions[0].nodes.size(), &units)) return nullptr;
  *part = {parts_, node, first, settings, units};
  return parts_ = part;
}

// The last one that was added; its memory ends with the engine.
void Runtime::RemovePart(Part* part) {
  if (parts_ == part) parts_ = part->next;
}

SessionPart* Runtime::FindSessionPart(const Session* session, const Part* part) {
  const Locked locked(&lock_);
  SessionPart* found = session_parts_;
  while (found != nullptr && (found->session != session || found->part != part)) found = found->next;
  return found;
}

SessionPart* Runtime::NewSessionPart(const Session* session, Part* part) {
  if (SessionPart* known = FindSessionPart(session, part)) {
    known->Clear();
    return known;
  }
  void* memory = AllocateFrom(allocator_, sizeof(SessionPart));
  if (memory == nullptr) return nullptr;
  auto* made = new (Place(), memory) SessionPart(allocator_);
  made->session = session;
  made->part = part;
  made->runtime = this;
  const Locked locked(&lock_);
  made->next = session_parts_;
  session_parts_ = made;
  return made;
}

void Runtime::EndSession(const void* session) {
  tuning_.EndSession(session);
  const Locked locked(&lock_);
  SessionPart** place = &session_parts_;
  while (*place != nullptr) {
    SessionPart* part = *place;
    if (part->session != session) {
      place = &part->next;
      continue;
    }
    *place = part->next;
    part->Clear();
    part->~SessionPart();
    allocator_.free(allocator_.user, part);
  }
}

Home Runtime::HomeFor(const PartSettings& settings, int64_t width, int64_t height) const {
  const DeviceFacts& known = facts();
  const bool fits = known.images && width <= static_cast<int64_t>(known.max_width) &&
                    height <= static_cast<int64_t>(known.max_height);
  return settings.images && fits ? Home::kImage : Home::kBuffer;
}

Code Runtime::MakeMemory(const Reporter& reporter, Home home, bool half, int64_t width, int64_t height, void* source,
                         cl_mem_flags flags, cl_mem* made) {
  cl_int error = kClSuccess;
  if (source != nullptr) flags |= kClMemCopyHostPtr;
  const int64_t bytes = BytesOf(home, half, width, height);
  if (home == Home::kImage) {
    const cl_image_format format = {kClRgba, half ? kClHalfFloat : kClFloat};
    cl_image_desc description = {};
    description.image_type = kClMemObjectImage2d;
    description.image_width = static_cast<size_t>(width);
    description.image_height = static_cast<size_t>(height);
    *made = api_.CreateImage(context_, flags, &format, &description, source, &error);
  } else {
    *made = api_.CreateBuffer(context_, flags, static_cast<size_t>(bytes), source, &error);
  }
  if (error == kClSuccess) {
    CountMemory(bytes);
    return Code::kOk;
  }
  *made = nullptr;
  return reporter.Fail(Code::kOutOfMemory, "the device '%s' has no memory for %lld bytes: %s", facts().name,
                       static_cast<long long>(bytes), ErrorName(error));
}

Code Runtime::UploadConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings,
                             FillPixels fill, const int64_t (&arguments)[4], DeviceTensor* as) {
  const Locked locked(&lock_);
  for (const Constant* each = constants_; each != nullptr; each = each->next) {
    if (each->data == source.data && each->fill == fill && each->width == as->width && each->height == as->height &&
        each->half == settings.half && each->home == as->home &&
        memcmp(each->arguments, arguments, sizeof(arguments)) == 0) {
      as->memory = each->memory;
      return Code::kOk;
    }
  }
  auto* made = static_cast<Constant*>(memory_.Allocate(sizeof(Constant), alignof(Constant)));
  if (made == nullptr) return reporter.Fail(Code::kOutOfMemory, "there is no memory for a constant");
  LATHE_TRY(FillConstant(reporter, source, settings, fill, arguments, as));
  *made = {constants_, source.data, fill, {}, as->width, as->height, settings.half, as->home, as->memory};
  memcpy(made->arguments, arguments, sizeof(arguments));
  constants_ = made;
  return Code::kOk;
}

Code Runtime::FillConstant(const Reporter& reporter, const Tensor& source, const PartSettings& settings,
                           FillPixels fill, const int64_t (&arguments)[4], DeviceTensor* as) {
  const bool numbers = as->home == Home::kNumbers;
  const int64_t count = int64_t{as->width} * as->height * (numbers ? 1 : 4);
  if (static_cast<uint64_t>(count) * sizeof(float) > kMaxBytes)
    return reporter.Fail(Code::kOutOfMemory, "a constant is too large");
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  auto* memory = static_cast<float*>(AllocateFrom(allocator_, bytes));
  if (memory == nullptr) return reporter.Fail(Code::kOutOfMemory, "there is no memory for a constant");
  memset(memory, 0, bytes);
  if (numbers) {
    auto* whole = reinterpret_cast<int32_t*>(memory);
    for (int64_t i = 0; i < count; ++i) whole[i] = static_cast<int32_t>(NumberAt(source, i));
  } else if (fill != nullptr) {
    fill(source.As<float>(), source.shape, as->width, as->height, arguments, memory);
  } else {
    FillView(source.As<float>(), as->view, memory);
  }
  if (settings.half && !numbers) {
    auto* halves = reinterpret_cast<uint16_t*>(memory);  // behind what is still to be read
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t half = HalfFromFloat(memory[i]);
      memcpy(halves + i, &half, sizeof(half));
    }
  }
  const Code code =
      MakeMemory(reporter, as->home, settings.half, as->width, as->height, memory, kClMemReadOnly, &as->memory);
  allocator_.free(allocator_.user, memory);
  return code;
}

}  // namespace opencl
}  // namespace lathe
