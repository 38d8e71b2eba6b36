#include "native/opencl/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native/core/memory.h"

namespace lathe::opencl {

namespace {

// What OpenCL says of one device or platform. What it does not say is 0, or an empty text.
template <typename Id>
class Answers {
 public:
  using Ask = cl_int (*)(Id id, cl_uint what, size_t size, void* value, size_t* needs);
  Answers(Ask ask, Id id, MemoryArena* arena) : ask_(ask), id_(id), arena_(arena) {}

  template <typename T>
  T Get(cl_uint what) const {
    T value = {};
    return ask_(id_, what, sizeof(value), &value, nullptr) == kClSuccess ? value : T{};
  }
  bool Is(cl_uint what) const { return Get<cl_bool>(what) != kClFalse; }

  // A driver answers with all of a text or nothing, however long it is.
  const char* Text(cl_uint what) const {
    size_t size = 0;
    if (ask_(id_, what, 0, nullptr, &size) != kClSuccess || size == 0 || size > kMaxBytes - 1) return "";
    char* text = static_cast<char*>(arena_->Allocate(size + 1, 1));  // one more, which stays 0
    return text != nullptr && ask_(id_, what, size, text, nullptr) == kClSuccess ? text : "";
  }

  template <size_t n>
  void CopyText(cl_uint what, char (&copy)[n]) const {
    const char* text = Text(what);
    while (*text == ' ') ++text;
    const size_t length = strnlen(text, n - 1);
    memcpy(copy, text, length);
    copy[length] = 0;
  }

 private:
  Ask ask_;
  Id id_;
  MemoryArena* arena_;
};

bool HasWord(const char* words, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = strstr(words, word); at != nullptr; at = strstr(at + length, word)) {
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  }
  return false;
}

bool Contains(const char* text, const char* part) { return strcasestr(text, part) != nullptr; }

Maker MakerOf(const DeviceFacts& facts) {
  if (facts.type == kClDeviceTypeCpu) return Maker::kOther;
  if (Contains(facts.name, "adreno") || Contains(facts.vendor, "qualcomm")) return Maker::kAdreno;
  if (Contains(facts.name, "mali") || strcmp(facts.vendor, "ARM") == 0) return Maker::kMali;
  if (Contains(facts.name, "powervr") || Contains(facts.vendor, "imagination")) return Maker::kPowerVr;
  if (Contains(facts.vendor, "nvidia")) return Maker::kNvidia;
  if (Contains(facts.vendor, "advanced micro devices") || Contains(facts.vendor, "amd")) return Maker::kAmd;
  if (Contains(facts.vendor, "intel")) return Maker::kIntel;
  return Maker::kOther;
}

// "OpenCL 1.2 ..."; 0.0 where it says something else.
void ReadVersion(DeviceFacts* facts) {
  constexpr char kPrefix[] = "OpenCL ";
  const char* text = facts->version;
  if (strncmp(text, kPrefix, sizeof(kPrefix) - 1) != 0) return;
  char* end = nullptr;
  const long major = strtol(text + sizeof(kPrefix) - 1, &end, 10);
  if (*end != '.' || major < 0 || major > 99) return;
  facts->major = static_cast<cl_int>(major);
  facts->minor = static_cast<cl_int>(strtol(end + 1, nullptr, 10));
}

// Hints are listed with the device or with the platform.
void ReadExtensions(const char* device, const char* platform, DeviceFacts* facts) {
  const auto has = [&](const char* word) { return HasWord(device, word) || HasWord(platform, word); };
  facts->half = HasWord(device, "cl_khr_fp16");
  facts->image_in_buffer = HasWord(device, "cl_khr_image2d_from_buffer");
  facts->subgroups = HasWord(device, "cl_khr_subgroups") || HasWord(device, "cl_intel_subgroups");
  facts->queue_priority = has("cl_khr_priority_hints");
  facts->context_perf_hint = has("cl_qcom_perf_hint");
  facts->context_priority = has("cl_qcom_priority_hint");
  facts->import_host_memory = has("cl_arm_import_memory") && has("cl_arm_import_memory_host");
}

void ReadLimits(const Answers<cl_device_id>& answers, DeviceFacts* facts) {
  facts->memory = answers.Get<cl_ulong>(kClDeviceGlobalMemSize);
  facts->max_allocation = answers.Get<cl_ulong>(kClDeviceMaxMemAllocSize);
  facts->cache = answers.Get<cl_ulong>(kClDeviceGlobalMemCacheSize);
  if (answers.Get<cl_uint>(kClDeviceLocalMemType) == kClLocalMemTypeLocal)
    facts->local_memory = answers.Get<cl_ulong>(kClDeviceLocalMemSize);
  facts->compute_units = answers.Get<cl_uint>(kClDeviceMaxComputeUnits);
  facts->clock = answers.Get<cl_uint>(kClDeviceMaxClockFrequency);
  facts->max_group = answers.Get<size_t>(kClDeviceMaxWorkGroupSize);
  constexpr cl_uint kMostDimensions = 16;
  struct Sizes {
    size_t of[kMostDimensions];
  };
  const auto sizes = answers.Get<Sizes>(kClDeviceMaxWorkItemSizes);  // of as many dimensions as the device has
  for (int i = 0; i < 3; ++i) facts->max_items[i] = sizes.of[i];
  facts->base_alignment = answers.Get<cl_uint>(kClDeviceMemBaseAddrAlign) / 8;  // given in bits
  facts->max_width = answers.Get<size_t>(kClDeviceImage2dMaxWidth);
  facts->max_height = answers.Get<size_t>(kClDeviceImage2dMaxHeight);
  facts->images = answers.Is(kClDeviceImageSupport) && facts->max_width > 0 && facts->max_height > 0;
  facts->max_buffer_image = answers.Get<size_t>(kClDeviceImageMaxBufferSize);
  if (!facts->image_in_buffer) return;
  facts->pitch_alignment = answers.Get<cl_uint>(kClDeviceImagePitchAlignment);
  facts->origin_alignment = answers.Get<cl_uint>(kClDeviceImageBaseAddressAlignment);
  facts->image_in_buffer = facts->images && facts->pitch_alignment > 0;
}

DeviceFacts FactsOf(const ClApi& api, cl_platform_id platform_id, cl_device_id id, MemoryArena* arena) {
  const Answers<cl_platform_id> platform(api.GetPlatformInfo, platform_id, arena);
  const Answers<cl_device_id> device(api.GetDeviceInfo, id, arena);
  DeviceFacts facts = {};
  device.CopyText(kClDeviceName, facts.name);
  device.CopyText(kClDeviceVendor, facts.vendor);
  device.CopyText(kClDriverVersion, facts.driver_version);
  device.CopyText(kClDeviceVersion, facts.version);
  platform.CopyText(kClPlatformName, facts.platform);
  ReadVersion(&facts);
  constexpr cl_device_type kTypes = kClDeviceTypeGpu | kClDeviceTypeAccelerator | kClDeviceTypeCpu;
  facts.type = device.Get<cl_device_type>(kClDeviceType) & kTypes;
  facts.maker = MakerOf(facts);
  ReadExtensions(device.Text(kClDeviceExtensions), platform.Text(kClPlatformExtensions), &facts);
  ReadLimits(device, &facts);
  facts.compiler = device.Is(kClDeviceCompilerAvailable);
  facts.unified_memory = device.Is(kClDeviceHostUnifiedMemory);
  return facts;
}

// The devices that were seen, as words.
class Listing {
 public:
  LATHE_MESSAGE_FUNCTION(void Add(const char*, ...), 2, 3, void())
  const char* text() const { return text_; }

 private:
  char text_[280] = "";
};

#ifndef LATHE_NO_MESSAGES
void Listing::Add(const char* format, ...) {
  const size_t used = strlen(text_);
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text_ + used, sizeof(text_) - used, format, arguments) < 0) text_[used] = 0;
  va_end(arguments);
}
#endif

// The better kind has the larger number; 0: what nobody asked for.
int RankOf(cl_device_type type) {
  if ((type & kClDeviceTypeGpu) != 0) return 3;
  if ((type & kClDeviceTypeAccelerator) != 0) return 2;
  return (type & kClDeviceTypeCpu) != 0 ? 1 : 0;
}

// Why a device is never taken; null: it may be.
const char* ProblemOf(const Answers<cl_device_id>& answers, const DeviceFacts& facts) {
  if (facts.major < 1 || (facts.major == 1 && facts.minor < 2)) return " is older than OpenCL 1.2";
  if (RankOf(facts.type) == 0 || !answers.Is(kClDeviceEndianLittle)) return " is of a kind that Lathe does not know";
  if (!answers.Is(kClDeviceAvailable)) return " is not available";
  if (facts.max_group == 0 || facts.max_items[0] == 0 || facts.max_allocation == 0) return " does not tell its limits";
  return nullptr;
}

// Whether a number stands at `text`, followed by `end`; `text` then goes on behind that.
bool TakeNumber(const char** text, char end, int number) {
  if (**text < '0' || **text > '9') return false;
  char* behind = nullptr;
  const long value = strtol(*text, &behind, 10);
  if (*behind != end || value != number) return false;
  *text = behind + 1;
  return true;
}

bool IsWished(const char* wish, const Device& device) {
  if (wish == nullptr || Contains(device.facts.name, wish)) return true;
  const char* at = wish;
  return TakeNumber(&at, ':', device.platform_index) && TakeNumber(&at, 0, device.index);
}

Code OutOfMemory(Reason* reason) { return reason->Fail(Code::kOutOfMemory, "out of memory for OpenCL's devices"); }

class Chooser {
 public:
  Chooser(const ClApi& api, const char* wish, Device* best) : api_(api), wish_(wish), best_(best) {}

  Code AddPlatforms(Reason* reason) {
    cl_uint count = 0;
    const cl_int answer = api_.GetPlatformIDs(0, nullptr, &count);
    if (answer != kClSuccess) return reason->Answered(Code::kUnsupported, "clGetPlatformIDs", answer);
    Span<cl_platform_id> platforms;
    if (!arena_.NewArray(count, &platforms)) return OutOfMemory(reason);
    if (count > 0) api_.GetPlatformIDs(count, platforms.data(), nullptr);
    for (cl_uint i = 0; i < count; ++i) LATHE_TRY(AddDevices(platforms[i], static_cast<int>(i), reason));
    if (rank_ > 0) return Code::kOk;
    if (!any_) return reason->Fail(Code::kUnsupported, "none of %d OpenCL platforms has a device", int(count));
    if (wish_ == nullptr) return reason->Fail(Code::kUnsupported, "no OpenCL device can be used: %s", list_.text());
    return reason->Fail(Code::kUnsupported, "no OpenCL device that can be used is '%.60s'; there are: %s", wish_,
                        list_.text());
  }

 private:
  Code AddDevices(cl_platform_id platform, int platform_index, Reason* reason) {
    cl_uint count = 0;
    if (platform == nullptr || api_.GetDeviceIDs(platform, kClDeviceTypeAll, 0, nullptr, &count) != kClSuccess)
      return Code::kOk;  // one without devices; others may have some
    Span<cl_device_id> ids;
    if (!arena_.NewArray(count, &ids)) return OutOfMemory(reason);
    if (count > 0) api_.GetDeviceIDs(platform, kClDeviceTypeAll, count, ids.data(), nullptr);
    for (cl_uint i = 0; i < count; ++i) {
      if (ids[i] == nullptr) continue;
      Add({platform, ids[i], platform_index, static_cast<int>(i), FactsOf(api_, platform, ids[i], &arena_)});
    }
    return Code::kOk;
  }

  void Add(const Device& device) {
    const Answers<cl_device_id> answers(api_.GetDeviceInfo, device.id, &arena_);
    const char* problem = ProblemOf(answers, device.facts);
    list_.Add("%s%d:%d %s%s", any_ ? ", " : "", device.platform_index, device.index, device.facts.name,
              problem != nullptr ? problem : "");
    any_ = true;
    const int rank = RankOf(device.facts.type);
    if (problem != nullptr || rank <= rank_ || !IsWished(wish_, device)) return;
    rank_ = rank;
    *best_ = device;
  }

  const ClApi& api_;
  const char* wish_;
  Device* best_;
  int rank_ = 0;
  bool any_ = false;
  Listing list_;
  MemoryArena arena_{DefaultAllocator()};
};

}  // namespace

Code ChooseDevice(const ClApi& api, const DeviceWish& wish, Device* device, Reason* reason) {
  const char* name = wish.name != nullptr ? wish.name : getenv("LATHE_OPENCL_DEVICE");
  if (name != nullptr && *name == 0) name = nullptr;
  return Chooser(api, name, device).AddPlatforms(reason);
}

Code MakeContext(const ClApi& api, const Device& device, const ContextWish& wish, cl_context* context, Reason* reason) {
  cl_context_properties properties[] = {
      kClContextPlatform, reinterpret_cast<cl_context_properties>(device.platform), 0, 0, 0, 0, 0};
  constexpr int kFirstHint = 2;
  int used = kFirstHint;
  const auto add = [&](bool known, Level level, cl_context_properties hint, cl_context_properties low) {
    if (!known || level == Level::kDefault) return;
    properties[used++] = hint;
    properties[used++] = low - (static_cast<int>(level) - static_cast<int>(Level::kLow));  // the numbers go down
  };
  add(device.facts.context_perf_hint, wish.performance, kClContextPerfHintQcom, kClPerfHintLowQcom);
  add(device.facts.context_priority, wish.priority, kClContextPriorityHintQcom, kClPriorityHintLowQcom);
  cl_int answer = kClSuccess;
  *context = api.CreateContext(properties, 1, &device.id, nullptr, nullptr, &answer);
  if (*context == nullptr && used > kFirstHint) {  // old drivers list hints and refuse them
    properties[kFirstHint] = 0;
    *context = api.CreateContext(properties, 1, &device.id, nullptr, nullptr, &answer);
  }
  return *context != nullptr ? Code::kOk : reason->Answered(Code::kUnsupported, "clCreateContext", answer);
}

Code MakeQueue(const ClApi& api, const Device& device, const ContextWish& wish, cl_context context,
               cl_command_queue* queue, Reason* reason) {
  const cl_command_queue_properties properties = wish.profiling ? kClQueueProfilingEnable : 0;
  cl_int answer = kClSuccess;
  if (device.facts.queue_priority && wish.priority != Level::kDefault &&
      api.CreateCommandQueueWithProperties != nullptr) {
    const int steps = static_cast<int>(wish.priority) - static_cast<int>(Level::kLow);
    const cl_queue_properties hints[] = {kClQueueProperties, properties, kClQueuePriorityKhr,
                                         kClQueuePriorityLowKhr >> steps, 0};
    *queue = api.CreateCommandQueueWithProperties(context, device.id, hints, &answer);
    if (*queue != nullptr) return Code::kOk;
  }
  *queue = api.CreateCommandQueue(context, device.id, properties, &answer);
  return *queue != nullptr ? Code::kOk : reason->Answered(Code::kUnsupported, "clCreateCommandQueue", answer);
}

}  // namespace lathe::opencl
