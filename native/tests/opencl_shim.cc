// An OpenCL that goes wrong on request. A library with the functions of OpenCL 1.2, loaded by LATHE_OPENCL_LIBRARY,
// that hands every call on to the real one (LATHE_SHIM_LIBRARY, or libOpenCL.so.1), but for what LATHE_SHIM says. That
// is a list of these, with commas between:
//
//   no_platform                   as on a machine without drivers
//   two_platforms                 one without devices stands before the real ones
//   fail:<function>:<code>[:<n>]  n calls work (0 where it is left out), all others answer the code
//   lost_after:<n>                n commands work; then the device is gone: whatever needs it fails
//   image_limit:<width>x<height>  larger images are not told of and not made
//   alloc_limit:<bytes>           the same with buffers
//   device:<fact>=<value>         what the device says of itself; the facts are those of `kFacts`
//   with:<extension>              one more
//   without:<extension>           one less
//   texts:<folder>                no program is built; each becomes a file there: a comment with its options, its text
//   calls:<file>                  when the program ends, a line "<function> <calls> <of them failed>" for each
//   function;
//                                 in the place of calls: HostBuffer, buffers over memory that the program has;
//                                 CopiedBytes, those that were mapped of other buffers
//
// with:cl_arm_import_memory_host brings the function of that extension, which is as strict as the extension says.
//
// Functions are named without their "cl". LATHE_SHIM is read whenever the number of platforms is asked for, and calls
// are counted from there for `fail` and `lost_after`; `calls` has all of them.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

enum class Kind { kText, kSize, kLong, kInt };
struct Fact {
  cl_device_info what;
  Kind kind;
};
const std::map<std::string, Fact> kFacts = {
    {"type", {CL_DEVICE_TYPE, Kind::kLong}},  // 2: CPU, 4: GPU, 8: accelerator
    {"name", {CL_DEVICE_NAME, Kind::kText}},
    {"vendor", {CL_DEVICE_VENDOR, Kind::kText}},
    {"version", {CL_DEVICE_VERSION, Kind::kText}},
    {"driver", {CL_DRIVER_VERSION, Kind::kText}},
    {"available", {CL_DEVICE_AVAILABLE, Kind::kInt}},
    {"compiler", {CL_DEVICE_COMPILER_AVAILABLE, Kind::kInt}},
    {"images", {CL_DEVICE_IMAGE_SUPPORT, Kind::kInt}},
    {"image_width", {CL_DEVICE_IMAGE2D_MAX_WIDTH, Kind::kSize}},
    {"image_height", {CL_DEVICE_IMAGE2D_MAX_HEIGHT, Kind::kSize}},
    {"allocation", {CL_DEVICE_MAX_MEM_ALLOC_SIZE, Kind::kLong}},
    {"memory", {CL_DEVICE_GLOBAL_MEM_SIZE, Kind::kLong}},
    {"local", {CL_DEVICE_LOCAL_MEM_TYPE, Kind::kInt}},  // 1: memory of its own, 2: a piece of global memory
    {"group", {CL_DEVICE_MAX_WORK_GROUP_SIZE, Kind::kSize}},
    {"unified", {CL_DEVICE_HOST_UNIFIED_MEMORY, Kind::kInt}},
};

struct Failure {
  std::string function;
  cl_int code;
  long after;
};

struct Calls {
  long all = 0;
  long failed = 0;
};

using Pages = std::pair<uintptr_t, uintptr_t>;  // from and to

struct State {
  std::mutex mutex;
  void* library = nullptr;
  bool no_platform = false, two_platforms = false;
  bool lost = false;
  long commands_left = -1;  // -1: no end
  size_t max_width = SIZE_MAX, max_height = SIZE_MAX, max_bytes = SIZE_MAX;
  std::vector<Failure> failures;
  std::map<std::string, long> seen;  // calls since LATHE_SHIM was read
  std::map<cl_device_info, std::string> told;
  std::vector<std::string> with, without;
  std::map<std::string, Calls> calls;
  std::map<cl_mem, Pages> imported;
  std::string report;
  std::string texts_folder;
};

// Lives until the very end, as calls may come from the exit handlers of others.
State& state() {
  static State* made = new State();
  return *made;
}

[[noreturn]] void Refuse(const std::string& what) {
  fprintf(stderr, "LATHE_SHIM: %s\n", what.c_str());
  abort();
}

long NumberOf(const std::string& text) {
  char* end = nullptr;
  const long number = strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0) Refuse("'" + text + "' is no number");
  return number;
}

// Cuts `text` in two at the first `mark`; the second part is empty where there is none.
std::pair<std::string, std::string> Cut(const std::string& text, char mark) {
  const size_t at = text.find(mark);
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

void ReadDeviceFact(State& now, const std::string& text) {
  const auto [name, value] = Cut(text, '=');
  const auto found = kFacts.find(name);
  if (found == kFacts.end()) Refuse("there is no fact '" + name + "'");
  if (found->second.kind != Kind::kText) NumberOf(value);
  now.told[found->second.what] = value;
}

void ReadWish(State& now, const std::string& wish) {
  const auto [word, rest] = Cut(wish, ':');
  if (word == "no_platform") {
    now.no_platform = true;
  } else if (word == "two_platforms") {
    now.two_platforms = true;
  } else if (word == "fail") {
    const auto [function, numbers] = Cut(rest, ':');
    const auto [code, after] = Cut(numbers, ':');
    now.failures.push_back({function, static_cast<cl_int>(NumberOf(code)), after.empty() ? 0 : NumberOf(after)});
  } else if (word == "lost_after") {
    now.commands_left = NumberOf(rest);
  } else if (word == "image_limit") {
    const auto [width, height] = Cut(rest, 'x');
    now.max_width = static_cast<size_t>(NumberOf(width));
    now.max_height = static_cast<size_t>(NumberOf(height));
    ReadDeviceFact(now, "image_width=" + width);
    ReadDeviceFact(now, "image_height=" + height);
  } else if (word == "alloc_limit") {
    now.max_bytes = static_cast<size_t>(NumberOf(rest));
    ReadDeviceFact(now, "allocation=" + rest);
  } else if (word == "device") {
    ReadDeviceFact(now, rest);
  } else if (word == "with") {
    now.with.push_back(rest);
  } else if (word == "without") {
    now.without.push_back(rest);
  } else if (word == "texts") {
    now.texts_folder = rest;
  } else if (word == "calls") {
    now.report = rest;
  } else {
    Refuse("'" + wish + "' is nothing that it does");
  }
}

void ReadWishes() {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  now.no_platform = now.two_platforms = now.lost = false;
  now.commands_left = -1;
  now.max_width = now.max_height = now.max_bytes = SIZE_MAX;
  now.failures.clear();
  now.seen.clear();
  now.told.clear();
  now.with.clear();
  now.without.clear();
  now.texts_folder.clear();
  const char* text = getenv("LATHE_SHIM");
  std::istringstream wishes(text != nullptr ? text : "");
  for (std::string wish; std::getline(wishes, wish, ',');) ReadWish(now, wish);
}

bool Begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// Of a call that is about to be made: what it answers instead, or CL_SUCCESS.
cl_int Verdict(const char* function) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  const long before = now.seen[function]++;
  for (const Failure& failure : now.failures) {
    if (failure.function == function && before >= failure.after) return failure.code;
  }
  const bool enqueues = Begins(function, "Enqueue");
  if (!now.lost && enqueues && now.commands_left >= 0) {
    now.lost = now.commands_left == 0;
    now.commands_left -= now.lost ? 0 : 1;
    if (now.lost) return CL_OUT_OF_RESOURCES;
  }
  if (!now.lost) return CL_SUCCESS;
  if (Begins(function, "Create") || Begins(function, "Build")) return CL_OUT_OF_RESOURCES;
  const bool waits = strcmp(function, "Finish") == 0 || strcmp(function, "Flush") == 0 || Begins(function, "Wait");
  return enqueues || waits ? CL_INVALID_COMMAND_QUEUE : CL_SUCCESS;
}

void Count(const char* function, bool failed) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  Calls& calls = now.calls[function];
  ++calls.all;
  calls.failed += failed ? 1 : 0;
}

__attribute__((destructor)) void WriteReport() {
  State& now = state();
  if (now.report.empty()) return;
  FILE* file = fopen(now.report.c_str(), "w");
  if (file == nullptr) return;
  for (const auto& [name, calls] : now.calls) fprintf(file, "%s %ld %ld\n", name.c_str(), calls.all, calls.failed);
  fclose(file);
}

// Texts that are the same have the same name, and are written again.
void WriteText(const std::string& folder, const std::string& text) {
  const std::string path = folder + "/" + std::to_string(std::hash<std::string>()(text)) + ".cl";
  FILE* file = fopen(path.c_str(), "w");
  if (file == nullptr || fwrite(text.data(), 1, text.size(), file) != text.size()) Refuse("cannot write " + path);
  fclose(file);
}

template <typename T>
T Real(const char* name) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  if (now.library == nullptr) {
    const char* library = getenv("LATHE_SHIM_LIBRARY");
    now.library = dlopen(library != nullptr ? library : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (now.library == nullptr) Refuse(dlerror());
  }
  void* found = dlsym(now.library, name);
  if (found == nullptr) Refuse(std::string("the real OpenCL has no ") + name);
  return reinterpret_cast<T>(found);
}

cl_int Answer(const void* bytes, size_t length, size_t size, void* value, size_t* needs) {
  if (needs != nullptr) *needs = length;
  if (value == nullptr) return CL_SUCCESS;
  if (size < length) return CL_INVALID_VALUE;
  memcpy(value, bytes, length);
  return CL_SUCCESS;
}

template <typename T>
cl_int AnswerNumber(const std::string& text, size_t size, void* value, size_t* needs) {
  const T number = static_cast<T>(NumberOf(text));
  return Answer(&number, sizeof(number), size, value, needs);
}

cl_int AnswerFact(cl_device_info what, const std::string& text, size_t size, void* value, size_t* needs) {
  for (const auto& [name, fact] : kFacts) {
    if (fact.what != what) continue;
    if (fact.kind == Kind::kSize) return AnswerNumber<size_t>(text, size, value, needs);
    if (fact.kind == Kind::kLong) return AnswerNumber<cl_ulong>(text, size, value, needs);
    if (fact.kind == Kind::kInt) return AnswerNumber<cl_uint>(text, size, value, needs);
  }
  return Answer(text.c_str(), text.size() + 1, size, value, needs);
}

cl_int AnswerExtensions(cl_device_id device, size_t size, void* value, size_t* needs) {
  const auto real = Real<decltype(&clGetDeviceInfo)>("clGetDeviceInfo");
  size_t length = 0;
  cl_int answer = real(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &length);
  std::string listed(length, 0);
  if (answer == CL_SUCCESS) answer = real(device, CL_DEVICE_EXTENSIONS, length, listed.data(), nullptr);
  if (answer != CL_SUCCESS) return answer;
  const State& now = state();
  std::string words;
  std::istringstream texts(listed.c_str());
  for (std::string word; texts >> word;) {
    bool kept = true;
    for (const std::string& gone : now.without) kept = kept && word != gone;
    if (kept) words += word + " ";
  }
  for (const std::string& word : now.with) words += word + " ";
  return Answer(words.c_str(), words.size() + 1, size, value, needs);
}

char empty_platform;  // has no devices; its address is the platform
cl_platform_id EmptyPlatform() { return reinterpret_cast<cl_platform_id>(&empty_platform); }

cl_int Platforms(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  const State& now = state();
  if (now.no_platform) {
    if (found != nullptr) *found = 0;
    return -1001;  // CL_PLATFORM_NOT_FOUND_KHR, as ICD loaders answer
  }
  const auto real = Real<decltype(&clGetPlatformIDs)>("clGetPlatformIDs");
  if (!now.two_platforms) return real(count, platforms, found);
  if (platforms != nullptr) *platforms = EmptyPlatform();
  cl_uint others = 0;
  const bool more = platforms != nullptr && count > 1;
  const cl_int answer = real(more ? count - 1 : 0, more ? platforms + 1 : nullptr, &others);
  if (found != nullptr) *found = others + 1;
  return answer;
}

}  // namespace

#define REAL(name) Real<decltype(&cl##name)>("cl" #name)

// Functions that answer with a code.
#define CODE(name, parameters, arguments)                       \
  extern "C" cl_int cl##name parameters {                       \
    cl_int answer = Verdict(#name);                             \
    if (answer == CL_SUCCESS) answer = Special##name arguments; \
    Count(#name, answer != CL_SUCCESS);                         \
    return answer;                                              \
  }
#define PLAIN_CODE(name, parameters, arguments)                    \
  namespace {                                                      \
  cl_int Special##name parameters { return REAL(name) arguments; } \
  }                                                                \
  CODE(name, parameters, arguments)

// Functions that answer with something that they made, and have a place for the code.
#define MADE(type, name, parameters, arguments)                      \
  extern "C" type cl##name parameters {                              \
    cl_int code = Verdict(#name);                                    \
    if (code == CL_SUCCESS) code = Limit##name arguments;            \
    type made = code == CL_SUCCESS ? REAL(name) arguments : nullptr; \
    Count(#name, made == nullptr);                                   \
    if (code != CL_SUCCESS && error != nullptr) *error = code;       \
    return made;                                                     \
  }
#define PLAIN_MADE(type, name, parameters, arguments) \
  namespace {                                         \
  template <typename... T>                            \
  cl_int Limit##name(T...) {                          \
    return CL_SUCCESS;                                \
  }                                                   \
  }                                                   \
  MADE(type, name, parameters, arguments)

namespace {

cl_int SpecialGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void* value, size_t* needs) {
  if (platform != EmptyPlatform()) return REAL(GetPlatformInfo)(platform, what, size, value, needs);
  constexpr char kText[] = "OpenCL 1.2 of a platform without devices";
  return Answer(kText, sizeof(kText), size, value, needs);
}

cl_int SpecialGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices,
                           cl_uint* found) {
  if (platform == EmptyPlatform()) return CL_DEVICE_NOT_FOUND;
  return REAL(GetDeviceIDs)(platform, type, count, devices, found);
}

cl_int SpecialGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needs) {
  const State& now = state();
  const auto told = now.told.find(what);
  if (told != now.told.end()) return AnswerFact(what, told->second, size, value, needs);
  if (what == CL_DEVICE_EXTENSIONS) return AnswerExtensions(device, size, value, needs);
  return REAL(GetDeviceInfo)(device, what, size, value, needs);
}

cl_int SpecialBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                           void (*notify)(cl_program, void*), void* user) {
  const std::string& folder = state().texts_folder;
  if (folder.empty()) return REAL(BuildProgram)(program, count, devices, options, notify, user);
  size_t length = 0;
  cl_int answer = REAL(GetProgramInfo)(program, CL_PROGRAM_SOURCE, 0, nullptr, &length);
  std::string text(length, 0);
  if (answer == CL_SUCCESS) answer = REAL(GetProgramInfo)(program, CL_PROGRAM_SOURCE, length, text.data(), nullptr);
  if (answer == CL_SUCCESS) WriteText(folder, "//" + std::string(options) + "\n" + text.c_str());
  return answer;
}

cl_int LimitCreateBuffer(cl_context, cl_mem_flags flags, size_t size, void*, cl_int*) {
  const bool fits = size <= state().max_bytes;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) Count("HostBuffer", !fits);
  return fits ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
}

bool IsImported(cl_mem memory) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  return now.imported.count(memory) != 0;
}

// Also counts what whoever maps it copies.
cl_int LimitEnqueueMapBuffer(cl_command_queue, cl_mem buffer, cl_bool, cl_map_flags, size_t, size_t size, cl_uint,
                             const cl_event*, cl_event*, cl_int*) {
  if (IsImported(buffer)) return CL_INVALID_OPERATION;
  cl_mem_flags flags = 0;
  const cl_int answer = REAL(GetMemObjectInfo)(buffer, CL_MEM_FLAGS, sizeof(flags), &flags, nullptr);
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  now.calls["CopiedBytes"].all += (flags & CL_MEM_USE_HOST_PTR) != 0 ? 0 : static_cast<long>(size);
  return answer;
}

cl_int SpecialEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* mapped, cl_uint waits,
                                    const cl_event* list, cl_event* event) {
  if (IsImported(memory)) return CL_INVALID_OPERATION;
  return REAL(EnqueueUnmapMemObject)(queue, memory, mapped, waits, list, event);
}

cl_int LimitCreateImage(cl_context, cl_mem_flags, const cl_image_format*, const cl_image_desc* image, void*, cl_int*) {
  const bool fits = image->image_width <= state().max_width && image->image_height <= state().max_height;
  return fits ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

void Forget(cl_mem memory) {
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  now.imported.erase(memory);
}

cl_int SpecialReleaseMemObject(cl_mem memory) {
  Forget(memory);
  return REAL(ReleaseMemObject)(memory);
}

// Memory that begins between pages cannot share one with other imports.
cl_int LimitImport(cl_mem_flags flags, const cl_import_properties_arm* properties, const Pages& pages) {
  if (flags != CL_MEM_READ_WRITE || pages.first == pages.second) return CL_INVALID_VALUE;
  if (properties == nullptr || properties[0] != CL_IMPORT_TYPE_ARM || properties[1] != CL_IMPORT_TYPE_HOST_ARM ||
      properties[2] != 0)
    return CL_INVALID_PROPERTY;
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  for (const auto& [memory, others] : now.imported) {
    if (pages.first < others.second && others.first < pages.second) return CL_INVALID_OPERATION;
  }
  return CL_SUCCESS;
}

cl_mem ImportMemory(cl_context context, cl_mem_flags flags, const cl_import_properties_arm* properties, void* memory,
                    size_t size, cl_int* error) {
  constexpr uintptr_t kPage = 4096, kCacheLine = 64;
  const uintptr_t at = reinterpret_cast<uintptr_t>(memory);
  if (at % kCacheLine != 0) Refuse("memory is imported that begins within a line of the cache");
  const Pages pages = {at / kPage, (at + size + kPage - 1) / kPage};
  *error = Verdict("ImportMemoryARM");
  if (*error == CL_SUCCESS) *error = LimitImport(flags, properties, pages);
  cl_mem made = nullptr;
  if (*error == CL_SUCCESS) made = REAL(CreateBuffer)(context, flags | CL_MEM_USE_HOST_PTR, size, memory, error);
  Count("ImportMemoryARM", made == nullptr);
  State& now = state();
  const std::lock_guard<std::mutex> lock(now.mutex);
  if (made != nullptr) now.imported[made] = pages;
  return made;
}

}  // namespace

extern "C" cl_int clGetPlatformIDs(cl_uint count, cl_platform_id* platforms, cl_uint* found) {
  if (platforms == nullptr) ReadWishes();
  cl_int answer = Verdict("GetPlatformIDs");
  if (answer == CL_SUCCESS) answer = Platforms(count, platforms, found);
  Count("GetPlatformIDs", answer != CL_SUCCESS);
  return answer;
}

extern "C" void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* name) {
  for (const std::string& extension : state().with) {
    if (extension == "cl_arm_import_memory_host" && strcmp(name, "clImportMemoryARM") == 0)
      return reinterpret_cast<void*>(&ImportMemory);
  }
  return REAL(GetExtensionFunctionAddressForPlatform)(platform, name);
}

// clang-format off
CODE(GetPlatformInfo, (cl_platform_id platform, cl_platform_info what, size_t size, void* value, size_t* needs),
     (platform, what, size, value, needs))
CODE(GetDeviceIDs, (cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* ids, cl_uint* found),
     (platform, type, count, ids, found))
CODE(GetDeviceInfo, (cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needs),
     (device, what, size, value, needs))
PLAIN_MADE(cl_context, CreateContext,
           (const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
            void (*notify)(const char*, const void*, size_t, void*), void* user, cl_int* error),
           (properties, count, devices, notify, user, error))
PLAIN_CODE(ReleaseContext, (cl_context context), (context))
PLAIN_MADE(cl_command_queue, CreateCommandQueue,
           (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int* error),
           (context, device, properties, error))
PLAIN_MADE(cl_command_queue, CreateCommandQueueWithProperties,
           (cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* error),
           (context, device, properties, error))
PLAIN_CODE(ReleaseCommandQueue, (cl_command_queue queue), (queue))
MADE(cl_mem, CreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error),
     (context, flags, size, host, error))
PLAIN_MADE(cl_mem, CreateSubBuffer,
           (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* region, cl_int* error),
           (buffer, flags, type, region, error))
MADE(cl_mem, CreateImage,
     (cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* image, void* host,
      cl_int* error),
     (context, flags, format, image, host, error))
PLAIN_CODE(RetainMemObject, (cl_mem memory), (memory))
CODE(ReleaseMemObject, (cl_mem memory), (memory))
PLAIN_CODE(GetMemObjectInfo, (cl_mem memory, cl_mem_info what, size_t size, void* value, size_t* needs),
           (memory, what, size, value, needs))
PLAIN_CODE(GetImageInfo, (cl_mem image, cl_image_info what, size_t size, void* value, size_t* needs),
           (image, what, size, value, needs))
PLAIN_CODE(GetSupportedImageFormats,
           (cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint count, cl_image_format* formats,
            cl_uint* found),
           (context, flags, type, count, formats, found))
PLAIN_MADE(cl_program, CreateProgramWithSource,
           (cl_context context, cl_uint count, const char** texts, const size_t* lengths, cl_int* error),
           (context, count, texts, lengths, error))
PLAIN_MADE(cl_program, CreateProgramWithBinary,
           (cl_context context, cl_uint count, const cl_device_id* devices, const size_t* lengths,
            const unsigned char** binaries, cl_int* status, cl_int* error),
           (context, count, devices, lengths, binaries, status, error))
CODE(BuildProgram,
     (cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
      void (*notify)(cl_program, void*), void* user),
     (program, count, devices, options, notify, user))
PLAIN_CODE(RetainProgram, (cl_program program), (program))
PLAIN_CODE(ReleaseProgram, (cl_program program), (program))
PLAIN_CODE(GetProgramInfo, (cl_program program, cl_program_info what, size_t size, void* value, size_t* needs),
           (program, what, size, value, needs))
PLAIN_CODE(GetProgramBuildInfo,
           (cl_program program, cl_device_id device, cl_program_build_info what, size_t size, void* value,
            size_t* needs),
           (program, device, what, size, value, needs))
PLAIN_MADE(cl_kernel, CreateKernel, (cl_program program, const char* name, cl_int* error), (program, name, error))
PLAIN_CODE(ReleaseKernel, (cl_kernel kernel), (kernel))
PLAIN_CODE(SetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void* value),
           (kernel, index, size, value))
PLAIN_CODE(GetKernelInfo, (cl_kernel kernel, cl_kernel_info what, size_t size, void* value, size_t* needs),
           (kernel, what, size, value, needs))
PLAIN_CODE(GetKernelWorkGroupInfo,
           (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size, void* value,
            size_t* needs),
           (kernel, device, what, size, value, needs))
#define WAITS cl_uint waits, const cl_event *list, cl_event *event
PLAIN_CODE(EnqueueNDRangeKernel,
           (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset, const size_t* global,
            const size_t* local, WAITS),
           (queue, kernel, dimensions, offset, global, local, waits, list, event))
PLAIN_CODE(EnqueueReadBuffer,
           (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* host, WAITS),
           (queue, buffer, blocking, offset, size, host, waits, list, event))
PLAIN_CODE(EnqueueWriteBuffer,
           (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void* host,
            WAITS),
           (queue, buffer, blocking, offset, size, host, waits, list, event))
PLAIN_CODE(EnqueueFillBuffer,
           (cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size, size_t offset,
            size_t size, WAITS),
           (queue, buffer, pattern, pattern_size, offset, size, waits, list, event))
PLAIN_CODE(EnqueueCopyBuffer,
           (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, WAITS),
           (queue, from, to, from_offset, to_offset, size, waits, list, event))
PLAIN_CODE(EnqueueReadImage,
           (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin, const size_t* region,
            size_t row, size_t slice, void* host, WAITS),
           (queue, image, blocking, origin, region, row, slice, host, waits, list, event))
PLAIN_CODE(EnqueueWriteImage,
           (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin, const size_t* region,
            size_t row, size_t slice, const void* host, WAITS),
           (queue, image, blocking, origin, region, row, slice, host, waits, list, event))
PLAIN_CODE(EnqueueFillImage,
           (cl_command_queue queue, cl_mem image, const void* color, const size_t* origin, const size_t* region,
            WAITS),
           (queue, image, color, origin, region, waits, list, event))
PLAIN_CODE(EnqueueCopyImage,
           (cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin, const size_t* to_origin,
            const size_t* region, WAITS),
           (queue, from, to, from_origin, to_origin, region, waits, list, event))
PLAIN_CODE(EnqueueCopyImageToBuffer,
           (cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t* origin, const size_t* region,
            size_t offset, WAITS),
           (queue, image, buffer, origin, region, offset, waits, list, event))
PLAIN_CODE(EnqueueCopyBufferToImage,
           (cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset, const size_t* origin,
            const size_t* region, WAITS),
           (queue, buffer, image, offset, origin, region, waits, list, event))
MADE(void*, EnqueueMapBuffer,
     (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size,
      WAITS, cl_int* error),
     (queue, buffer, blocking, flags, offset, size, waits, list, event, error))
PLAIN_MADE(void*, EnqueueMapImage,
           (cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags, const size_t* origin,
            const size_t* region, size_t* row, size_t* slice, WAITS, cl_int* error),
           (queue, image, blocking, flags, origin, region, row, slice, waits, list, event, error))
CODE(EnqueueUnmapMemObject, (cl_command_queue queue, cl_mem memory, void* mapped, WAITS),
     (queue, memory, mapped, waits, list, event))
PLAIN_CODE(Flush, (cl_command_queue queue), (queue))
PLAIN_CODE(Finish, (cl_command_queue queue), (queue))
PLAIN_CODE(WaitForEvents, (cl_uint count, const cl_event* events), (count, events))
PLAIN_CODE(GetEventInfo, (cl_event event, cl_event_info what, size_t size, void* value, size_t* needs),
           (event, what, size, value, needs))
PLAIN_CODE(GetEventProfilingInfo, (cl_event event, cl_profiling_info what, size_t size, void* value, size_t* needs),
           (event, what, size, value, needs))
PLAIN_CODE(RetainEvent, (cl_event event), (event))
PLAIN_CODE(ReleaseEvent, (cl_event event), (event))
// clang-format on
