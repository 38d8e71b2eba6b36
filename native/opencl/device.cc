#include "native/opencl/device.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "native/runtime/memory.h"

namespace lathe::opencl {

namespace {

// What OpenCL says of one device or platform. What it does not say is 0, or an empty text.
class Answers {
 public:
  // Both ids are pointers, and both functions are called alike.
  template <typename Id>
  Answers(cl_int (*ask)(Id id, cl_uint what, size_t size, void* value, size_t* needs), Id id, MemoryArena* arena)
      : ask_(reinterpret_cast<Ask>(ask)), id_(id), arena_(arena) {}

  void Get(cl_uint what, void* value, size_t size) const {
    memset(value, 0, size);
    if (ask_(id_, what, size, value, nullptr) != kClSuccess) memset(value, 0, size);
  }
  template <typename T>
  T Get(cl_uint what) const {
    T value;
    Get(what, &value, sizeof(value));
    return value;
  }

  // A driver answers with all of a text or nothing, however long it is.
  const char* Text(cl_uint what) const {
    size_t size = 0;
    if (ask_(id_, what, 0, nullptr, &size) != kClSuccess || size == 0 || size > kMaxBytes - 1) return "";
    char* text = static_cast<char*>(arena_->Allocate(size + 1, 1));  // one more, which stays 0
    return text != nullptr && ask_(id_, what, size, text, nullptr) == kClSuccess ? text : "";
  }
  void CopyText(cl_uint what, char* copy, size_t size) const {
    const char* text = Text(what);
    while (*text == ' ') ++text;
    const size_t length = strnlen(text, size - 1);
    memcpy(copy, text, length);
    copy[length] = 0;
  }

 private:
  using Ask = cl_int (*)(void* id, cl_uint what, size_t size, void* value, size_t* needs);
  Ask ask_;
  void* id_;
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

const char* Next(const char* text) { return text + strlen(text) + 1; }

Maker MakerOf(const DeviceFacts& facts) {
  // By Maker: words in names of devices or of who sells them.
  constexpr char kWords[] =
      "\1adreno\0\1qualcomm\0\2mali\0\3powervr\0\3imagination\0\4nvidia\0\5advanced micro devices\0\5amd\0\6intel\0";
  if (facts.type == kClDeviceTypeCpu) return Maker::kOther;
  if (strcmp(facts.vendor, "ARM") == 0) return Maker::kMali;
  for (const char* word = kWords; *word != 0; word = Next(word)) {
    if (Contains(facts.name, word + 1) || Contains(facts.vendor, word + 1)) return static_cast<Maker>(*word);
  }
  return Maker::kOther;
}

// The number at `*text`, which goes on behind it; -1: there is none. No strtol: newer glibc have it under another name.
int TakeDigits(const char** text) {
  int number = -1;
  for (; **text >= '0' && **text <= '9' && number < 100000000; ++*text)
    number = (number < 0 ? 0 : 10 * number) + (**text - '0');
  return number;
}

// "OpenCL 1.2 ..."; 0.0 where it says something else.
void ReadVersion(DeviceFacts* facts) {
  constexpr char kPrefix[] = "OpenCL ";
  const char* text = facts->version;
  if (strncmp(text, kPrefix, sizeof(kPrefix) - 1) != 0) return;
  text += sizeof(kPrefix) - 1;
  const int major = TakeDigits(&text);
  if (*text++ != '.' || major < 0 || major > 99) return;
  const int minor = TakeDigits(&text);
  facts->major = major;
  facts->minor = minor < 0 ? 0 : minor;
}

// Hints are listed with the device or with the platform, what kernels may use with the device.
void ReadExtensions(const char* device, const char* platform, DeviceFacts* facts) {
  constexpr char kWords[] =
      "cl_khr_fp16\0cl_khr_image2d_from_buffer\0cl_khr_subgroups\0cl_intel_subgroups\0cl_khr_priority_hints\0"
      "cl_qcom_perf_hint\0cl_qcom_priority_hint\0cl_arm_import_memory_host\0cl_arm_import_memory\0";
  constexpr int kFirstHint = 4;
  bool has[9];
  int place = 0;
  for (const char* word = kWords; *word != 0; word = Next(word), ++place)
    has[place] = HasWord(device, word) || (place >= kFirstHint && HasWord(platform, word));
  facts->half = has[0];
  facts->image_in_buffer = has[1];
  facts->subgroups = has[2] || has[3];
  facts->queue_priority = has[4];
  facts->context_perf_hint = has[5];
  facts->context_priority = has[6];
  facts->import_host_memory = has[7] && has[8];
}

// Where an answer goes. The size says what it is: a truth value, a number, or a text, which is cut.
struct Fact {
  uint16_t what, offset, size;
};
#define LATHE_FACT(what, member) {what, offsetof(DeviceFacts, member), sizeof(DeviceFacts::member)}
constexpr Fact kFacts[] = {
    LATHE_FACT(kClDeviceName, name),
    LATHE_FACT(kClDeviceVendor, vendor),
    LATHE_FACT(kClDriverVersion, driver_version),
    LATHE_FACT(kClDeviceVersion, version),
    LATHE_FACT(kClDeviceType, type),
    LATHE_FACT(kClDeviceGlobalMemSize, memory),
    LATHE_FACT(kClDeviceMaxMemAllocSize, max_allocation),
    LATHE_FACT(kClDeviceGlobalMemCacheSize, cache),
    LATHE_FACT(kClDeviceLocalMemSize, local_memory),
    LATHE_FACT(kClDeviceMaxComputeUnits, compute_units),
    LATHE_FACT(kClDeviceMaxClockFrequency, clock),
    LATHE_FACT(kClDeviceMaxWorkGroupSize, max_group),
    LATHE_FACT(kClDeviceMemBaseAddrAlign, base_alignment),
    LATHE_FACT(kClDeviceImageSupport, images),
    LATHE_FACT(kClDeviceImage2dMaxWidth, max_width),
    LATHE_FACT(kClDeviceImage2dMaxHeight, max_height),
    LATHE_FACT(kClDeviceImageMaxBufferSize, max_buffer_image),
    LATHE_FACT(kClDeviceImagePitchAlignment, pitch_alignment),
    LATHE_FACT(kClDeviceImageBaseAddressAlignment, origin_alignment),
    LATHE_FACT(kClDeviceCompilerAvailable, compiler),
    LATHE_FACT(kClDeviceHostUnifiedMemory, unified_memory),
};
#undef LATHE_FACT

void ReadFacts(const Answers& answers, DeviceFacts* facts) {
  for (const Fact& fact : kFacts) {
    char* place = reinterpret_cast<char*>(facts) + fact.offset;
    if (fact.size == sizeof(bool)) {
      *place = answers.Get<cl_bool>(fact.what) != kClFalse;
    } else if (fact.size <= sizeof(cl_ulong)) {
      answers.Get(fact.what, place, fact.size);
    } else {
      answers.CopyText(fact.what, place, fact.size);
    }
  }
  constexpr cl_uint kMostDimensions = 16;
  struct Sizes {
    size_t of[kMostDimensions];
  };
  const auto sizes = answers.Get<Sizes>(kClDeviceMaxWorkItemSizes);  // of as many dimensions as the device has
  memcpy(facts->max_items, sizes.of, sizeof(facts->max_items));
}

DeviceFacts FactsOf(const ClApi& api, cl_platform_id platform_id, cl_device_id id, MemoryArena* arena) {
  const Answers platform(api.GetPlatformInfo, platform_id, arena);
  const Answers device(api.GetDeviceInfo, id, arena);
  DeviceFacts facts = {};
  ReadFacts(device, &facts);
  platform.CopyText(kClPlatformName, facts.platform, sizeof(facts.platform));
  ReadVersion(&facts);
  facts.type &= kClDeviceTypeGpu | kClDeviceTypeAccelerator | kClDeviceTypeCpu;
  facts.maker = MakerOf(facts);
  ReadExtensions(device.Text(kClDeviceExtensions), platform.Text(kClPlatformExtensions), &facts);
  if (device.Get<cl_uint>(kClDeviceLocalMemType) != kClLocalMemTypeLocal) facts.local_memory = 0;
  facts.base_alignment /= 8;  // given in bits
  facts.images = facts.images && facts.max_width > 0 && facts.max_height > 0;
  if (!facts.image_in_buffer) facts.pitch_alignment = facts.origin_alignment = 0;
  facts.image_in_buffer = facts.images && facts.pitch_alignment > 0;
  return facts;
}

// The better kind has the larger number; 0: what nobody asked for.
int RankOf(cl_device_type type) {
  if ((type & kClDeviceTypeGpu) != 0) return 3;
  if ((type & kClDeviceTypeAccelerator) != 0) return 2;
  return (type & kClDeviceTypeCpu) != 0 ? 1 : 0;
}

// Why a device is never taken; null: it may be.
const char* ProblemOf(const Answers& answers, const DeviceFacts& facts) {
  if (facts.major < 1 || (facts.major == 1 && facts.minor < 2)) return " is older than OpenCL 1.2";
  if (RankOf(facts.type) == 0 || answers.Get<cl_bool>(kClDeviceEndianLittle) == 0)
    return " is of a kind that Lathe does not know";
  if (answers.Get<cl_bool>(kClDeviceAvailable) == 0) return " is not available";
  if (facts.max_group == 0 || facts.max_items[0] == 0 || facts.max_allocation == 0) return " does not tell its limits";
  return nullptr;
}

// Whether a number stands at `text`, followed by `end`; `text` then goes on behind that.
bool TakeNumber(const char** text, char end, int number) { return TakeDigits(text) == number && *(*text)++ == end; }

bool IsWished(const char* wish, const Device& device) {
  if (wish == nullptr || Contains(device.facts.name, wish)) return true;
  const char* at = wish;
  return TakeNumber(&at, ':', device.platform_index) && TakeNumber(&at, 0, device.index);
}

Code OutOfMemory(Reason* reason) { return reason->Fail(Code::kOutOfMemory, "there is no memory for a device"); }

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
    if (!any_)
      return reason->Fail(Code::kUnsupported, "none of %d OpenCL platforms has a device", static_cast<int>(count));
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
    const Answers answers(api_.GetDeviceInfo, device.id, &arena_);
    const char* problem = ProblemOf(answers, device.facts);
    list_.Fail(Code::kOk, "%s%s%d:%d %s%s", list_.text(), any_ ? ", " : "", device.platform_index, device.index,
               device.facts.name, problem != nullptr ? problem : "");
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
  Reason list_;  // the devices that were seen, as words
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
