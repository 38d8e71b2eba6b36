// How OpenCL and a device on it are found: on machines that the tests make up, and on this one through the shim, which
// makes it fail in the ways in which others do.
#include "native/opencl/device.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "native/opencl/loader.h"

namespace lathe::opencl {
namespace {

// --- machines that are made up ---

struct MadeDevice {
  std::string name;
  cl_device_type type = kClDeviceTypeGpu;
  std::string version = "OpenCL 1.2 made up";
  std::string extensions = "";
  std::string vendor = "somebody";
  bool available = true;
  size_t group = 256;
};
struct MadePlatform {
  std::vector<MadeDevice> devices = {};
  std::string extensions = "";
};
std::vector<MadePlatform> machine;

// Handles are addresses of what they stand for.
const MadePlatform& Of(cl_platform_id id) { return *reinterpret_cast<const MadePlatform*>(id); }
const MadeDevice& Of(cl_device_id id) { return *reinterpret_cast<const MadeDevice*>(id); }

template <typename Id, typename Item>
cl_int List(std::vector<Item>& items, cl_uint count, Id* ids, cl_uint* found) {
  if (found != nullptr) *found = static_cast<cl_uint>(items.size());
  for (cl_uint i = 0; i < count && i < items.size(); ++i) ids[i] = reinterpret_cast<Id>(&items[i]);
  return kClSuccess;
}

cl_int Bytes(const void* bytes, size_t length, size_t size, void* value, size_t* needs) {
  if (needs != nullptr) *needs = length;
  if (value != nullptr && size < length) return kClInvalidValue;
  if (value != nullptr) memcpy(value, bytes, length);
  return kClSuccess;
}
cl_int Words(const std::string& text, size_t size, void* value, size_t* needs) {
  return Bytes(text.c_str(), text.size() + 1, size, value, needs);
}
template <typename T>
cl_int Number(T number, size_t size, void* value, size_t* needs) {
  return Bytes(&number, sizeof(number), size, value, needs);
}

cl_int Platforms(cl_uint count, cl_platform_id* ids, cl_uint* found) { return List(machine, count, ids, found); }
cl_int AboutPlatform(cl_platform_id id, cl_uint what, size_t size, void* value, size_t* needs) {
  return Words(what == kClPlatformExtensions ? Of(id).extensions : "made up", size, value, needs);
}
cl_int Devices(cl_platform_id id, cl_device_type, cl_uint count, cl_device_id* ids, cl_uint* found) {
  std::vector<MadeDevice>& devices = const_cast<MadePlatform&>(Of(id)).devices;
  return devices.empty() ? kClDeviceNotFound : List(devices, count, ids, found);
}
cl_int AboutDevice(cl_device_id id, cl_uint what, size_t size, void* value, size_t* needs) {
  const MadeDevice& device = Of(id);
  constexpr size_t kItems[] = {64, 32, 16, 8};
  switch (what) {
    case kClDeviceType:
      return Number(device.type, size, value, needs);
    case kClDeviceName:
      return Words(device.name, size, value, needs);
    case kClDeviceVendor:
      return Words(device.vendor, size, value, needs);
    case kClDeviceVersion:
      return Words(device.version, size, value, needs);
    case kClDeviceExtensions:
      return Words(device.extensions, size, value, needs);
    case kClDeviceAvailable:
      return Number(device.available ? kClTrue : kClFalse, size, value, needs);
    case kClDeviceEndianLittle:
      return Number(kClTrue, size, value, needs);
    case kClDeviceMaxWorkGroupSize:
      return Number(device.group, size, value, needs);
    case kClDeviceMaxMemAllocSize:
      return Number(cl_ulong{1} << 30, size, value, needs);
    case kClDeviceMaxWorkItemSizes:
      return Bytes(kItems, sizeof(kItems), size, value, needs);
    default:
      return kClInvalidValue;
  }
}

ClApi MadeUp(std::vector<MadePlatform> platforms) {
  machine = std::move(platforms);
  ClApi api = {};
  api.GetPlatformIDs = Platforms;
  api.GetPlatformInfo = AboutPlatform;
  api.GetDeviceIDs = Devices;
  api.GetDeviceInfo = AboutDevice;
  return api;
}

// The device that is chosen, or why there is none.
std::string Choose(const ClApi& api, const char* wish = "") {
  Device device;
  Reason reason;
  const Code code = ChooseDevice(api, {wish}, &device, &reason);
  EXPECT_TRUE(code == Code::kOk || code == Code::kUnsupported);
  EXPECT_EQ(code == Code::kOk, reason.empty());
  return code == Code::kOk ? device.facts.name : reason.text();
}

Device Chosen(const ClApi& api) {
  Device device = {};
  Reason reason;
  EXPECT_EQ(ChooseDevice(api, {""}, &device, &reason), Code::kOk) << reason.text();
  return device;
}

TEST(OpenclDevice, AGpuGoesBeforeAnAcceleratorAndThatBeforeACpu) {
  const MadeDevice cpu = {"cpu", kClDeviceTypeCpu}, gpu = {"gpu"}, other = {"other gpu"};
  const MadeDevice accelerator = {"accelerator", kClDeviceTypeAccelerator | 1};  // 1: the default of its platform
  EXPECT_EQ(Choose(MadeUp({{{cpu, accelerator}}, {{}}, {{cpu, gpu, other}}})), "gpu");
  EXPECT_EQ(Choose(MadeUp({{{cpu}}, {{accelerator, cpu}}})), "accelerator");
  EXPECT_EQ(Choose(MadeUp({{{}}, {{cpu}}})), "cpu");
}

TEST(OpenclDevice, IsChosenByAPartOfItsNameOrByNumbers) {
  const ClApi api = MadeUp({{{{"Big GPU"}, {"Small GPU"}}}, {{{"Some CPU", kClDeviceTypeCpu}}}});
  EXPECT_EQ(Choose(api, "small"), "Small GPU");
  EXPECT_EQ(Choose(api, "GPU"), "Big GPU");
  EXPECT_EQ(Choose(api, "cpu"), "Some CPU");
  EXPECT_EQ(Choose(api, "0:1"), "Small GPU");
  EXPECT_EQ(Choose(api, "1:0"), "Some CPU");
  const std::string all = "0:0 Big GPU, 0:1 Small GPU, 1:0 Some CPU";
  for (const char* wish : {"2:0", "1:1", "1:", ":0", "0:1x", "01x", "-0:0", "tiny"})
    EXPECT_EQ(Choose(api, wish), std::string("no OpenCL device that can be used is '") + wish + "'; there are: " + all);
}

TEST(OpenclDevice, TheEnvironmentChoosesWhereTheProgramDoesNot) {
  const ClApi api = MadeUp({{{{"Big GPU"}, {"Small GPU"}}}});
  setenv("LATHE_OPENCL_DEVICE", "0:1", 1);
  EXPECT_EQ(Choose(api, nullptr), "Small GPU");
  EXPECT_EQ(Choose(api, "big"), "Big GPU");
  setenv("LATHE_OPENCL_DEVICE", "", 1);
  EXPECT_EQ(Choose(api, nullptr), "Big GPU");
  unsetenv("LATHE_OPENCL_DEVICE");
}

TEST(OpenclDevice, IsNotTakenWhereItCannotWork) {
  const MadeDevice old = {"old", kClDeviceTypeGpu, "OpenCL 1.1"}, odd = {"odd", kClDeviceTypeGpu, "OpenCL next"};
  MadeDevice away = {"away"}, silent = {"silent"};
  away.available = false;
  silent.group = 0;
  const MadeDevice custom = {"custom", 1 << 4};
  EXPECT_EQ(Choose(MadeUp({{{old, odd, away, silent, custom, {"cpu", kClDeviceTypeCpu}}}})), "cpu");
  EXPECT_EQ(
      Choose(MadeUp({{{old, odd, away, silent, custom}}})),
      "no OpenCL device can be used: 0:0 old is older than OpenCL 1.2, 0:1 odd is older than OpenCL 1.2, 0:2 away "
      "is not available, 0:3 silent does not tell its limits, 0:4 custom is of a kind that Lathe does not know");
  EXPECT_EQ(Choose(MadeUp({})), "none of 0 OpenCL platforms has a device");
  EXPECT_EQ(Choose(MadeUp({{{}}, {{}}})), "none of 2 OpenCL platforms has a device");
}

TEST(OpenclDevice, NamesOfAnyLengthDoNoHarm) {
  const std::string name(5000, 'x');
  const ClApi api = MadeUp({{{{name}, {name, kClDeviceTypeGpu, "OpenCL 1.1 " + name}}}});
  EXPECT_EQ(Choose(api), name.substr(0, sizeof(DeviceFacts::name) - 1));
  EXPECT_NE(Choose(api, std::string(3000, 'y').c_str()).find("there are: 0:0 xxx"), std::string::npos);
}

TEST(OpenclDevice, ExtensionsAreWholeWords) {
  MadeDevice device = {"gpu", kClDeviceTypeGpu, "OpenCL 3.10 new"};
  device.extensions = "xcl_khr_fp16 cl_khr_fp16x cl_khr_subgroups cl_arm_import_memory cl_qcom_priority_hint";
  DeviceFacts facts = Chosen(MadeUp({{{device}}})).facts;
  EXPECT_EQ(facts.major, 3);
  EXPECT_EQ(facts.minor, 10);
  EXPECT_EQ(facts.max_items[2], 16u);
  EXPECT_FALSE(facts.half);
  EXPECT_TRUE(facts.subgroups);
  EXPECT_TRUE(facts.context_priority);
  EXPECT_FALSE(facts.import_host_memory);
  EXPECT_FALSE(facts.context_perf_hint);
  device.extensions = "cl_khr_fp16x cl_arm_import_memory_host cl_arm_import_memory cl_khr_fp16";
  facts = Chosen(MadeUp({{{device}, "cl_qcom_perf_hint cl_khr_priority_hints"}})).facts;
  EXPECT_TRUE(facts.half);
  EXPECT_TRUE(facts.import_host_memory);
  EXPECT_TRUE(facts.context_perf_hint);
  EXPECT_TRUE(facts.queue_priority);
  EXPECT_FALSE(facts.images);
}

TEST(OpenclDevice, ItsMakerIsKnownByVendorOrName) {
  const auto maker = [](const char* name, const char* vendor, cl_device_type type = kClDeviceTypeGpu) {
    MadeDevice device = {name, type};
    device.vendor = vendor;
    return Chosen(MadeUp({{{device}}})).facts.maker;
  };
  EXPECT_EQ(maker("QUALCOMM Adreno(TM)", "QUALCOMM"), Maker::kAdreno);
  EXPECT_EQ(maker("Mali-G78", "ARM"), Maker::kMali);
  EXPECT_EQ(maker("PowerVR Rogue GE8320", "Imagination Technologies"), Maker::kPowerVr);
  EXPECT_EQ(maker("H200", "NVIDIA Corporation"), Maker::kNvidia);
  EXPECT_EQ(maker("gfx1030", "Advanced Micro Devices, Inc."), Maker::kAmd);
  EXPECT_EQ(maker("UHD", "Intel(R) Corporation"), Maker::kIntel);
  EXPECT_EQ(maker("pthread", "GenuineIntel", kClDeviceTypeCpu), Maker::kOther);
  EXPECT_EQ(maker("V3D", "Charm"), Maker::kOther);
}

// --- contexts and queues with hints ---

std::vector<long long> asked;  // what the last of them was asked for, without the platform
bool refuses_hints;

cl_context MakeMadeContext(const cl_context_properties* properties, cl_uint, const cl_device_id*, ClContextNotify,
                           void*, cl_int* error) {
  asked.clear();
  for (properties += 2; *properties != 0; ++properties) asked.push_back(*properties);
  *error = refuses_hints && !asked.empty() ? kClInvalidProperty : kClSuccess;
  return *error == kClSuccess ? reinterpret_cast<cl_context>(&asked) : nullptr;
}
cl_command_queue MakePlainQueue(cl_context, cl_device_id, cl_command_queue_properties properties, cl_int*) {
  asked = {static_cast<long long>(properties)};
  return reinterpret_cast<cl_command_queue>(&asked);
}
cl_command_queue MakeHintedQueue(cl_context, cl_device_id, const cl_queue_properties* properties, cl_int* error) {
  *error = kClInvalidQueueProperties;
  if (refuses_hints) return nullptr;
  asked = {static_cast<long long>(properties[1]), static_cast<long long>(properties[3])};
  return reinterpret_cast<cl_command_queue>(&asked);
}

class OpenclHints : public testing::Test {
 protected:
  std::vector<long long> ContextAskedFor(const ContextWish& wish) {
    Reason reason;
    EXPECT_EQ(MakeContext(api_, device_, wish, &context_, &reason), Code::kOk) << reason.text();
    return asked;
  }
  std::vector<long long> QueueAskedFor(const ContextWish& wish) {
    Reason reason;
    cl_command_queue queue;
    EXPECT_EQ(MakeQueue(api_, device_, wish, context_, &queue, &reason), Code::kOk) << reason.text();
    return asked;
  }
  void SetUp() override {
    refuses_hints = false;
    api_.CreateContext = MakeMadeContext;
    api_.CreateCommandQueue = MakePlainQueue;
    api_.CreateCommandQueueWithProperties = MakeHintedQueue;
  }

  ClApi api_ = {};
  Device device_ = {};
  cl_context context_ = nullptr;
};

using Numbers = std::vector<long long>;

TEST_F(OpenclHints, AreGivenToContextsOfDevicesThatKnowThem) {
  const ContextWish wish = {Level::kHigh, Level::kLow};
  EXPECT_EQ(ContextAskedFor(wish), Numbers());
  device_.facts.context_priority = true;
  EXPECT_EQ(ContextAskedFor(wish), (Numbers{kClContextPriorityHintQcom, kClPriorityHintLowQcom}));
  device_.facts.context_perf_hint = true;
  EXPECT_EQ(ContextAskedFor(wish),
            (Numbers{kClContextPerfHintQcom, kClPerfHintHighQcom, kClContextPriorityHintQcom, kClPriorityHintLowQcom}));
  EXPECT_EQ(ContextAskedFor({Level::kNormal}), (Numbers{kClContextPerfHintQcom, kClPerfHintNormalQcom}));
  EXPECT_EQ(ContextAskedFor({}), Numbers());
  refuses_hints = true;
  EXPECT_EQ(ContextAskedFor(wish), Numbers());
}

TEST_F(OpenclHints, AreGivenToQueuesOfDevicesThatKnowThem) {
  ContextWish wish = {Level::kDefault, Level::kHigh};
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{0}));
  device_.facts.queue_priority = true;
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{0, kClQueuePriorityHighKhr}));
  wish = {Level::kDefault, Level::kNormal, true};
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{kClQueueProfilingEnable, kClQueuePriorityMedKhr}));
  wish.priority = Level::kLow;
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{kClQueueProfilingEnable, kClQueuePriorityLowKhr}));
  refuses_hints = true;
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{kClQueueProfilingEnable}));
  refuses_hints = false;
  api_.CreateCommandQueueWithProperties = nullptr;
  EXPECT_EQ(QueueAskedFor(wish), (Numbers{kClQueueProfilingEnable}));
}

// --- this machine ---

std::string LoadFrom(const std::string& library, ClApi* api) {
  setenv("LATHE_OPENCL_LIBRARY", library.c_str(), 1);
  Reason reason;
  const Code code = Load(api, &reason);
  EXPECT_EQ(code, reason.empty() ? Code::kOk : Code::kUnsupported);
  return reason.text();
}

TEST(OpenclLoader, SaysWhyThereIsNoOpencl) {
  ClApi api;
  EXPECT_EQ(LoadFrom("/nowhere/libOpenCL.so", &api),
            "LATHE_OPENCL_LIBRARY is '/nowhere/libOpenCL.so': there is no OpenCL: /nowhere/libOpenCL.so: cannot open "
            "shared object file: No such file or directory");
  EXPECT_EQ(LoadFrom("libm.so.6", &api),
            "LATHE_OPENCL_LIBRARY is 'libm.so.6': libm.so.6 has no clGetPlatformIDs: OpenCL 1.2 is needed");
}

TEST(OpenclLoader, FindsTheOneOfThisMachineByItself) {
  unsetenv("LATHE_OPENCL_LIBRARY");
  ClApi api = {};
  Reason reason;
  ASSERT_EQ(Load(&api, &reason), Code::kOk) << reason.text();
  cl_uint count = 0;
  EXPECT_EQ(api.GetPlatformIDs(0, nullptr, &count), kClSuccess);
  EXPECT_GT(count, 0u);
  EXPECT_EQ(api.ReleaseEvent(nullptr), kClInvalidEvent);  // the last of the table
}

TEST(OpenclLoader, AsksLibrariesThatHandOutTheirFunctions) {
  ClApi api = {};
  ASSERT_EQ(LoadFrom(LATHE_OPENCL_HANDED_OUT, &api), "");
  EXPECT_EQ(api.GetPlatformIDs(1, nullptr, nullptr), -4711);
  EXPECT_EQ(api.CreateCommandQueueWithProperties, nullptr);
}

// The OpenCL of this machine, through the shim.
class OpenclHere : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(LoadFrom(LATHE_OPENCL_SHIM, &api_), "");
    Wish("");
  }
  static void Wish(const std::string& faults) { setenv("LATHE_SHIM", faults.c_str(), 1); }

  static ClApi api_;
};
ClApi OpenclHere::api_ = {};

TEST_F(OpenclHere, HasADeviceWithAllFacts) {
  Wish("device:vendor=Charm,with:cl_khr_fp16,without:cl_khr_subgroups");
  const Device device = Chosen(api_);
  const DeviceFacts& facts = device.facts;
  EXPECT_EQ(device.platform_index, 0);
  EXPECT_STREQ(facts.vendor, "Charm");
  EXPECT_TRUE(facts.half);
  EXPECT_FALSE(facts.subgroups);
  for (const char* text : {facts.name, facts.driver_version, facts.version, facts.platform}) EXPECT_STRNE(text, "");
  EXPECT_GT(facts.memory, 0u);
  EXPECT_GE(facts.max_allocation, 1u << 26);
  EXPECT_GT(facts.compute_units, 0u);
  EXPECT_GT(facts.max_group, 0u);
  EXPECT_GT(facts.base_alignment, 0u);
  EXPECT_TRUE(facts.images);
  EXPECT_GE(facts.max_width, 2048u);
  EXPECT_GE(facts.max_height, 2048u);
  EXPECT_TRUE(facts.compiler);
}

TEST_F(OpenclHere, MayHaveNoPlatformOrAnEmptyOne) {
  Wish("no_platform");
  EXPECT_EQ(Choose(api_), "clGetPlatformIDs answers CL_PLATFORM_NOT_FOUND_KHR (-1001)");
  Wish("two_platforms");
  EXPECT_EQ(Chosen(api_).platform_index, 1);
  Wish("two_platforms,device:version=OpenCL 1.0 old,device:name=Relic");
  EXPECT_EQ(Choose(api_), "no OpenCL device can be used: 1:0 Relic is older than OpenCL 1.2");
  Wish("fail:GetPlatformIDs:-6");
  EXPECT_EQ(Choose(api_), "clGetPlatformIDs answers CL_OUT_OF_HOST_MEMORY (-6)");
  Wish("fail:GetDeviceInfo:-5");
  EXPECT_EQ(Choose(api_), "no OpenCL device can be used: 0:0  is older than OpenCL 1.2");
}

TEST_F(OpenclHere, GivesAContextAndAQueueThatWorks) {
  // The driver does not know the hints that the shim tells of, and refuses them.
  Wish("with:cl_qcom_perf_hint,with:cl_khr_priority_hints,fail:CreateCommandQueueWithProperties:-35");
  const Device device = Chosen(api_);
  const ContextWish wish = {Level::kHigh, Level::kHigh, true};
  Reason reason;
  cl_context context;
  cl_command_queue queue;
  ASSERT_EQ(MakeContext(api_, device, wish, &context, &reason), Code::kOk) << reason.text();
  ASSERT_EQ(MakeQueue(api_, device, wish, context, &queue, &reason), Code::kOk) << reason.text();
  cl_int error = kClSuccess;
  const cl_mem buffer = api_.CreateBuffer(context, kClMemReadWrite, 64, nullptr, &error);
  ASSERT_EQ(error, kClSuccess);
  const int written[16] = {15, 14, 13};
  cl_event event = nullptr;
  int numbers[16] = {};
  EXPECT_EQ(api_.EnqueueWriteBuffer(queue, buffer, kClTrue, 0, 64, written, 0, nullptr, &event), kClSuccess);
  EXPECT_EQ(api_.EnqueueReadBuffer(queue, buffer, kClTrue, 0, 64, numbers, 0, nullptr, nullptr), kClSuccess);
  EXPECT_EQ(numbers[2], 13);
  cl_ulong start = 0, end = 0;
  EXPECT_EQ(api_.GetEventProfilingInfo(event, kClProfilingCommandStart, sizeof(start), &start, nullptr), kClSuccess);
  EXPECT_EQ(api_.GetEventProfilingInfo(event, kClProfilingCommandEnd, sizeof(end), &end, nullptr), kClSuccess);
  EXPECT_LE(start, end);
  EXPECT_EQ(api_.ReleaseEvent(event), kClSuccess);
  EXPECT_EQ(api_.ReleaseMemObject(buffer), kClSuccess);
  EXPECT_EQ(api_.ReleaseCommandQueue(queue), kClSuccess);
  EXPECT_EQ(api_.ReleaseContext(context), kClSuccess);
}

TEST_F(OpenclHere, TellsWhatFailedAndLosesTheDeviceOnRequest) {
  Wish("fail:CreateContext:-6,image_limit:100x50,alloc_limit:1000,lost_after:1,fail:CreateCommandQueue:-5:1");
  const Device device = Chosen(api_);
  EXPECT_EQ(device.facts.max_width, 100u);
  EXPECT_EQ(device.facts.max_height, 50u);
  EXPECT_EQ(device.facts.max_allocation, 1000u);
  Reason reason;
  cl_context context;
  EXPECT_EQ(MakeContext(api_, device, {}, &context, &reason), Code::kUnsupported);
  EXPECT_STREQ(reason.text(), "clCreateContext answers CL_OUT_OF_HOST_MEMORY (-6)");
  cl_command_queue queue, other;
  Wish("alloc_limit:1000,image_limit:100x50,lost_after:1,fail:CreateCommandQueue:-5:1");
  Chosen(api_);
  ASSERT_EQ(MakeContext(api_, device, {}, &context, &reason), Code::kOk);
  ASSERT_EQ(MakeQueue(api_, device, {}, context, &queue, &reason), Code::kOk);
  EXPECT_EQ(MakeQueue(api_, device, {}, context, &other, &reason), Code::kUnsupported);
  EXPECT_STREQ(reason.text(), "clCreateCommandQueue answers CL_OUT_OF_RESOURCES (-5)");
  cl_int error = kClSuccess;
  EXPECT_EQ(api_.CreateBuffer(context, kClMemReadWrite, 1001, nullptr, &error), nullptr);
  EXPECT_EQ(error, kClInvalidBufferSize);
  const cl_image_format format = {kClRgba, kClFloat};
  const cl_image_desc image = {kClMemObjectImage2d, 100, 51, 0, 0, 0, 0, 0, 0, nullptr};
  EXPECT_EQ(api_.CreateImage(context, kClMemReadWrite, &format, &image, nullptr, &error), nullptr);
  EXPECT_EQ(error, kClInvalidImageSize);
  const cl_mem buffer = api_.CreateBuffer(context, kClMemReadWrite, 1000, nullptr, &error);
  ASSERT_NE(buffer, nullptr);
  const auto read = [&] {
    char bytes[10];
    return api_.EnqueueReadBuffer(queue, buffer, kClTrue, 0, sizeof(bytes), bytes, 0, nullptr, nullptr);
  };
  EXPECT_EQ(read(), kClSuccess);
  EXPECT_EQ(read(), kClOutOfResources);
  EXPECT_EQ(read(), kClInvalidCommandQueue);
  EXPECT_EQ(api_.Finish(queue), kClInvalidCommandQueue);
  EXPECT_EQ(api_.CreateBuffer(context, kClMemReadWrite, 10, nullptr, &error), nullptr);
  EXPECT_EQ(error, kClOutOfResources);
  EXPECT_EQ(api_.ReleaseMemObject(buffer), kClSuccess);
  EXPECT_EQ(api_.ReleaseCommandQueue(queue), kClSuccess);
  EXPECT_EQ(api_.ReleaseContext(context), kClSuccess);
}

}  // namespace
}  // namespace lathe::opencl
