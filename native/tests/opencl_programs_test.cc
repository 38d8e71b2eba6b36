// Where programs come from, with a driver that the test makes up, and with the machine's own where it has one.
#include "native/opencl/programs.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "native/tests/opencl_fixture.h"

namespace lathe::opencl {
struct ClProgram {
  std::string text;
  bool from_binary;
  std::string options;
};
}  // namespace lathe::opencl

namespace lathe_test {
namespace {

using namespace lathe::opencl;
using lathe::Code;
using lathe::MemoryArena;
using lathe::Span;

using Bytes = std::vector<uint8_t>;

// A driver whose binary of a program is its text behind "made: ". It compiles nothing with -DWRONG.
struct Driver {
  Driver() {
    api.GetPlatformInfo = [](cl_platform_id, cl_platform_info, size_t size, void* value, size_t*) {
      EXPECT_GT(size, now->version.size());
      strcpy(static_cast<char*>(value), now->version.c_str());
      return kClSuccess;
    };
    api.CreateProgramWithSource = [](cl_context, cl_uint count, const char** texts, const size_t* sizes,
                                     cl_int* error) {
      auto* program = new ClProgram{};
      for (cl_uint i = 0; i < count; ++i) {
        EXPECT_NE(sizes[i], 0u) << "says that the text ends with a 0";
        program->text.append(texts[i], sizes[i]);
      }
      now->Count(&now->compiled, 1), now->Count(&now->alive, 1);
      *error = kClSuccess;
      return program;
    };
    api.CreateProgramWithBinary = CreateProgramWithBinary;
    api.BuildProgram = [](cl_program program, cl_uint count, const cl_device_id*, const char* options, ClProgramNotify,
                          void*) {
      EXPECT_EQ(count, 1u);
      program->options = options;
      if (program->from_binary) return now->refuses_to_build ? kClInvalidBinary : kClSuccess;
      if (!now->compiler) return kClCompilerNotAvailable;
      return program->options.find("-DWRONG") == std::string::npos ? kClSuccess : kClBuildProgramFailure;
    };
    api.ReleaseProgram = [](cl_program program) {
      delete program;
      now->Count(&now->alive, -1);
      return kClSuccess;
    };
    api.GetProgramInfo = [](cl_program program, cl_program_info what, size_t, void* value, size_t*) {
      const std::string binary = "made: " + program->text;
      if (what == kClProgramBinarySizes)
        *static_cast<size_t*>(value) = now->hands_out ? binary.size() : 0;
      else
        memcpy(*static_cast<unsigned char**>(value), binary.data(), binary.size());
      return kClSuccess;
    };
    api.GetProgramBuildInfo = [](cl_program, cl_device_id, cl_program_build_info, size_t size, void* value,
                                 size_t* needs) {
      if (needs != nullptr) *needs = now->log.size() + 1;
      if (value != nullptr) memcpy(value, now->log.c_str(), std::min(size, now->log.size() + 1));
      return kClSuccess;
    };
    device = {};
    strcpy(device.facts.name, "a device");
    strcpy(device.facts.driver_version, "1.0");
    now = this;
  }
  ~Driver() { EXPECT_EQ(alive, 0) << "programs that were not released"; }

  static cl_program CreateProgramWithBinary(cl_context, cl_uint, const cl_device_id*, const size_t* sizes,
                                            const unsigned char** binaries, cl_int* status, cl_int* error) {
    const std::string binary(reinterpret_cast<const char*>(binaries[0]), sizes[0]);
    *status = *error = now->refuses || binary.compare(0, 6, "made: ") != 0 ? kClInvalidBinary : kClSuccess;
    if (*error != kClSuccess) return nullptr;
    *status = now->bad_status ? kClInvalidBinary : kClSuccess;
    now->Count(&now->alive, 1);
    return new ClProgram{binary.substr(6), true, ""};
  }

  void Count(int* number, int by) {
    const std::lock_guard<std::mutex> guard(mutex);
    *number += by;
  }

  static Driver* now;

  ClApi api = {};
  Device device;
  std::string version = "OpenCL 1.2 test";
  std::string log = "in a.cl: warning: so so\n\n  b.cl:3:\terror: 'x' is unknown\n      x = 1;\n";
  bool compiler = true;
  bool hands_out = true;
  bool refuses = false;
  bool bad_status = false;
  bool refuses_to_build = false;
  int compiled = 0;
  int alive = 0;
  std::mutex mutex;
};

Driver* Driver::now = nullptr;

constexpr Unit kUnits[] = {
    {"first", "add", nullptr}, {"second", "add", nullptr}, {"empty", "add", nullptr}, {"twin", "add", nullptr}};

// The stream of sources.h, all of it letters as they are.
struct Texts {
  explicit Texts(const std::vector<std::string>& texts) {
    uint32_t hash = 0x811c9dc5;
    for (const std::string& text : texts) {
      EXPECT_LT(text.size(), 128u);
      stream.push_back(static_cast<unsigned char>(text.size()));
      for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x01000193;
    }
    for (int shift = 0; shift < 32; shift += 8) stream.push_back(static_cast<unsigned char>(hash >> shift));
    for (const std::string& text : texts) stream.insert(stream.end(), text.begin(), text.end());
    units = {kUnits, stream.data(), stream.size()};
  }

  std::vector<unsigned char> stream;
  Units units;
};

const Texts& UsualTexts() {
  static const Texts texts({"common;", "kernel void one() {}", "kernel void two() {}", "", "kernel void one() {}"});
  return texts;
}

// An engine as far as it has programs.
struct Engine {
  explicit Engine(Driver* driver, const std::string& storage = "", const lathe_allocator& allocator = {})
      : storage(storage), programs(allocator.alloc != nullptr ? allocator : lathe::DefaultAllocator()) {
    settings.api = &driver->api;
    settings.device = &driver->device;
    settings.units = &UsualTexts().units;
    settings.library = "digits";
    settings.storage_path = this->storage.c_str();
  }

  Code Open() { return programs.Open(settings, messages); }
  Code Get(size_t unit, const char* options = "-DA=1") {
    program = nullptr;
    return programs.Get(unit, options, messages, &program);
  }
  // Why the store could not be written.
  std::string Flush() {
    programs.Flush();
    return programs.store_failure().text();
  }
  Bytes Save() {
    MemoryArena arena(lathe::DefaultAllocator());
    Span<const uint8_t> file;
    return programs.SaveBinaries(&arena, &file) ? Bytes(file.begin(), file.end()) : Bytes();
  }
  // Compiled, from the application's binaries, from the store.
  std::vector<uint32_t> Origins() {
    const ProgramStatistics now = programs.statistics();
    return {now.compiled, now.from_binaries, now.from_store};
  }

  std::string storage;
  ProgramSettings settings;
  ProgramCache programs;
  Messages messages;
  cl_program program = nullptr;
};

using Counts = std::vector<uint32_t>;

// An engine that asks for the first two programs and writes the store.
Counts Start(Driver* driver, const std::string& storage, bool reuse = true) {
  Engine engine(driver, storage);
  engine.settings.reuse = reuse;
  EXPECT_EQ(engine.Open(), Code::kOk);
  for (const size_t unit : {0, 1}) EXPECT_EQ(engine.Get(unit), Code::kOk) << engine.messages.text();
  EXPECT_EQ(engine.Flush(), "");
  return engine.Origins();
}

Bytes SavedBinaries(Driver* driver) {
  Engine engine(driver);
  EXPECT_EQ(engine.Open(), Code::kOk);
  EXPECT_EQ(engine.Get(0), Code::kOk);
  EXPECT_EQ(engine.Get(1), Code::kOk);
  return engine.Save();
}

TEST(Programs, AreCompiledOnce) {
  Driver driver;
  Engine engine(&driver);
  ASSERT_EQ(engine.Open(), Code::kOk);
  ASSERT_EQ(engine.Get(0), Code::kOk);
  const cl_program first = engine.program;
  EXPECT_EQ(first->text, "common;\n#line 1\nkernel void one() {}");
  EXPECT_EQ(first->options, "-DA=1");
  ASSERT_EQ(engine.Get(0, "-DA=2"), Code::kOk);
  EXPECT_NE(engine.program, first);
  ASSERT_EQ(engine.Get(0), Code::kOk);
  EXPECT_EQ(engine.program, first);
  EXPECT_EQ(engine.Flush(), "") << "there is no store";
  ASSERT_EQ(engine.Get(1), Code::kOk) << "texts are there again when they are needed";
  EXPECT_EQ(engine.program->text, "common;\n#line 1\nkernel void two() {}");
  ASSERT_EQ(engine.Get(2), Code::kOk);
  EXPECT_EQ(engine.program->text, "common;\n#line 1\n");
  EXPECT_EQ(driver.compiled, 4);
  EXPECT_EQ(engine.Origins(), (Counts{4, 0, 0}));
  EXPECT_EQ(engine.Get(4), Code::kInternal);
}

TEST(Programs, OfAnEngineWithoutAnyAreNoWork) {
  Driver driver;
  const Folder folder;
  Engine engine(&driver, folder.path());
  ASSERT_EQ(engine.Open(), Code::kOk);
  EXPECT_EQ(engine.Flush(), "");
  EXPECT_TRUE(folder.Files().empty());
}

TEST(Programs, ComeFromTheStoreOfAnEarlierRun) {
  Driver driver;
  const Folder folder;
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
  EXPECT_EQ(folder.Files(), std::vector<std::string>{"lathe_opencl_digits.bin"});
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{0, 0, 2}));

  Engine engine(&driver, folder.path());
  ASSERT_EQ(engine.Open(), Code::kOk);
  ASSERT_EQ(engine.Get(1), Code::kOk);
  EXPECT_TRUE(engine.program->from_binary);
  EXPECT_EQ(engine.program->text, "common;\n#line 1\nkernel void two() {}");
  EXPECT_EQ(engine.program->options, "-DA=1");
  ASSERT_EQ(engine.Get(1, "-DA=2"), Code::kOk);
  EXPECT_EQ(engine.Origins(), (Counts{1, 0, 1})) << "other options are another program";
}

TEST(Programs, OfAnotherDeviceDriverOrPlatformAreCompiledAnew) {
  Driver driver;
  const Folder folder;
  Start(&driver, folder.path());
  strcpy(driver.device.facts.driver_version, "1.1");
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{0, 0, 2})) << "the store is now of this driver";
  strcpy(driver.device.facts.name, "another");
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
  driver.version = "OpenCL 2.0 test";
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
}

TEST(Programs, OfOtherTextsAreCompiledAnew) {
  Driver driver;
  const Folder folder;
  Start(&driver, folder.path());
  const Texts changed({"other;", "kernel void one() {}", "kernel void two() {}", "", ""});
  Engine engine(&driver, folder.path());
  engine.settings.units = &changed.units;
  ASSERT_EQ(engine.Open(), Code::kOk);
  ASSERT_EQ(engine.Get(0), Code::kOk);
  EXPECT_EQ(engine.Origins(), (Counts{1, 0, 0}));
}

TEST(Programs, AreNotReusedWhereTheApplicationSaysSo) {
  Driver driver;
  const Folder folder;
  EXPECT_EQ(Start(&driver, folder.path(), false), (Counts{2, 0, 0}));
  EXPECT_EQ(Start(&driver, folder.path(), false), (Counts{2, 0, 0}));
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{0, 0, 2})) << "but written";
}

TEST(Programs, ComeFromTheBinariesOfTheApplicationFirst) {
  Driver driver;
  const Folder folder;
  Start(&driver, folder.path());
  const Bytes binaries = SavedBinaries(&driver);
  ASSERT_FALSE(binaries.empty());
  strcpy(driver.device.facts.driver_version, "1.1");
  const Bytes foreign = SavedBinaries(&driver);
  strcpy(driver.device.facts.driver_version, "1.0");
  const Bytes before = folder.Read("lathe_opencl_digits.bin");
  folder.Write("some.bin", binaries);
  const std::string path = folder.path("some.bin"), absent = folder.path("absent.bin");
  for (const bool file : {false, true}) {
    Engine engine(&driver, folder.path());
    const char* paths[] = {absent.c_str(), path.c_str()};
    Bytes memory = binaries;
    const lathe_bytes in_memory[] = {{foreign.data(), foreign.size()}, {nullptr, 0}, {memory.data(), memory.size()}};
    if (file) {
      engine.settings.binary_paths = {paths, 2};
    } else {
      engine.settings.binaries = {in_memory, 3};
    }
    ASSERT_EQ(engine.Open(), Code::kOk);
    memory.assign(memory.size(), 0);  // the application may do what it likes with it
    ASSERT_EQ(engine.Get(1), Code::kOk);
    EXPECT_EQ(engine.Origins(), (Counts{0, 1, 0}));
    ASSERT_EQ(engine.Get(1, file ? "-DB" : "-DC"), Code::kOk);
    ASSERT_EQ(engine.Flush(), "");
    ASSERT_EQ(engine.Get(0), Code::kOk);
    EXPECT_EQ(engine.Origins(), (Counts{1, 2, 0}));
    EXPECT_GT(folder.Read("lathe_opencl_digits.bin").size(), before.size());
  }
}

TEST(Programs, OfFilesThatAreDamagedAreCompiledAnew) {
  Driver driver;
  const Folder folder;
  Start(&driver, folder.path());
  const Bytes whole = folder.Read("lathe_opencl_digits.bin");
  ASSERT_GT(whole.size(), 100u);
  for (size_t size = 0; size < whole.size(); ++size) {
    folder.Write("lathe_opencl_digits.bin", Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    ASSERT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0})) << size;
    ASSERT_EQ(folder.Read("lathe_opencl_digits.bin"), whole) << "rewritten";
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    Bytes wrong = whole;
    wrong[at] ^= 0x10;
    folder.Write("lathe_opencl_digits.bin", wrong);
    ASSERT_GE(Start(&driver, folder.path())[0], 1u) << at;
    ASSERT_EQ(folder.Read("lathe_opencl_digits.bin"), whole) << "rewritten";
  }
}

TEST(Programs, ThatTheDriverRefusesAreCompiledAnew) {
  bool Driver::* const refusals[] = {&Driver::refuses, &Driver::bad_status, &Driver::refuses_to_build};
  for (bool Driver::* const refusal : refusals) {
    Driver driver;
    const Folder folder;
    Start(&driver, folder.path());
    driver.*refusal = true;
    Engine engine(&driver, folder.path());
    ASSERT_EQ(engine.Open(), Code::kOk);
    ASSERT_EQ(engine.Get(0), Code::kOk) << engine.messages.text();
    EXPECT_FALSE(engine.program->from_binary);
    EXPECT_EQ(engine.Origins(), (Counts{1, 0, 0}));
    EXPECT_EQ(engine.programs.statistics().refused, 1u);
    EXPECT_EQ(engine.Flush(), "");
  }
}

TEST(Programs, ThatDoNotCompileSayWhatTheCompilerSays) {
  Driver driver;
  Engine engine(&driver);
  ASSERT_EQ(engine.Open(), Code::kOk);
  EXPECT_EQ(engine.Get(1, "-DWRONG=1"), Code::kInternal);
  EXPECT_EQ(engine.messages.text(),
            "the OpenCL driver does not compile unit 'second' (CL_BUILD_PROGRAM_FAILURE) with '-DWRONG=1': b.cl:3: "
            "error: 'x' is unknown x = 1;");
  driver.log.assign(100000, 'y');
  EXPECT_EQ(engine.Get(1, "-DWRONG=1"), Code::kInternal);
  EXPECT_GT(engine.messages.text().size(), 350u);
  EXPECT_LT(engine.messages.text().size(), 420u);
  driver.log = "";
  EXPECT_EQ(engine.Get(1, "-DWRONG=1"), Code::kInternal);
  EXPECT_NE(engine.messages.text().find(": no reason given"), std::string::npos) << engine.messages.text();
  EXPECT_EQ(engine.Get(1, "-DRIGHT"), Code::kOk);
  EXPECT_EQ(engine.Origins(), (Counts{1, 0, 0}));
}

TEST(Programs, NeedNoCompilerWhereThereAreBinaries) {
  Driver driver;
  const Bytes binaries = SavedBinaries(&driver);
  driver.compiler = false;
  const lathe_bytes in_memory = {binaries.data(), binaries.size()};
  Engine engine(&driver);
  engine.settings.binaries = {&in_memory, 1};
  ASSERT_EQ(engine.Open(), Code::kOk);
  EXPECT_EQ(engine.Get(0), Code::kOk);
  EXPECT_EQ(engine.Get(2), Code::kUnsupported);
  EXPECT_EQ(engine.messages.text(), "the OpenCL driver has no compiler, and no binary of unit 'empty' fits it");
}

TEST(Programs, OfOtherEnginesStayInTheStore) {
  Driver driver;
  const Folder folder;
  Engine a(&driver, folder.path()), b(&driver, folder.path());
  ASSERT_EQ(a.Open(), Code::kOk);
  ASSERT_EQ(b.Open(), Code::kOk);
  ASSERT_EQ(a.Get(0), Code::kOk);
  ASSERT_EQ(b.Get(1), Code::kOk);
  ASSERT_EQ(b.Flush(), "");
  ASSERT_EQ(a.Flush(), "");
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{0, 0, 2}));
}

TEST(Programs, ThatNobodyNeedsDoNotPileUp) {
  Driver driver;
  const Folder folder;
  const uint64_t identity = DeviceIdentity("a device", "1.0", "OpenCL 1.2 test");
  for (const bool large : {false, true}) {
    const Bytes bytes(large ? size_t{1} << 26 : size_t{1} << 20, 1);
    MemoryArena arena(lathe::DefaultAllocator());
    Binary former = {5, {bytes.data(), bytes.size()}};
    Reason reason;
    const std::string path = folder.path("lathe_opencl_digits.bin");
    WriteStore(path.c_str(), Pack({&former, 1}, identity, &arena), &reason);
    EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
    BinaryTable table;
    ASSERT_EQ(table.Open(ReadStore(path.c_str(), &arena), identity), BinaryTable::Found::kFits);
    EXPECT_EQ(table.size(), large ? 2u : 3u);
    EXPECT_EQ(table.Find(5).size(), large ? 0 : bytes.size());
  }
}

TEST(Programs, ThatAreAlikeAreStoredOnce) {
  Driver driver;
  const Folder folder;
  Engine engine(&driver, folder.path());
  ASSERT_EQ(engine.Open(), Code::kOk);
  ASSERT_EQ(engine.Get(0), Code::kOk);
  ASSERT_EQ(engine.Get(3), Code::kOk);
  EXPECT_EQ(engine.Flush(), "");
  EXPECT_EQ(engine.Save(), folder.Read("lathe_opencl_digits.bin"));
  Engine next(&driver, folder.path());
  ASSERT_EQ(next.Open(), Code::kOk);
  ASSERT_EQ(next.Get(3), Code::kOk);
  EXPECT_EQ(next.Origins(), (Counts{0, 0, 1}));
}

TEST(Programs, WorkWhereTheStoreCannotBeWritten) {
  Driver driver;
  const Folder folder;
  Engine engine(&driver, folder.path("absent"));
  ASSERT_EQ(engine.Open(), Code::kOk);
  ASSERT_EQ(engine.Get(0), Code::kOk);
  const std::string failure = engine.Flush();
  EXPECT_NE(failure.find("No such file"), std::string::npos) << failure;
  EXPECT_EQ(engine.Get(1), Code::kOk);
}

TEST(Programs, OfADriverThatKeepsItsBinaries) {
  Driver driver;
  driver.hands_out = false;
  const Folder folder;
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{2, 0, 0}));
  EXPECT_TRUE(folder.Files().empty());
  EXPECT_TRUE(SavedBinaries(&driver).empty());
}

TEST(Programs, OfALibraryWhoseTextsAreDamaged) {
  Driver driver;
  Texts texts({"common;", "a", "b", "c", "d"});
  texts.stream.back() = 'x';
  Engine engine(&driver);
  engine.settings.units = &texts.units;
  ASSERT_EQ(engine.Open(), Code::kOk);
  EXPECT_EQ(engine.Get(0), Code::kInternal);
  EXPECT_EQ(engine.messages.text(), "the OpenCL programs in this library are damaged");
}

TEST(Programs, OfManyThreadsAreCompiledOnce) {
  Driver driver;
  Engine engine(&driver);
  ASSERT_EQ(engine.Open(), Code::kOk);
  constexpr int kPrograms = 50;
  std::vector<std::thread> threads;
  std::vector<std::vector<cl_program>> got(4);
  for (size_t thread = 0; thread < got.size(); ++thread) {
    threads.emplace_back([&engine, &got, thread] {
      for (int i = 0; i < kPrograms; ++i) {
        cl_program program = nullptr;
        const std::string options = "-DI=" + std::to_string(i);
        EXPECT_EQ(engine.programs.Get(0, options.c_str(), engine.messages, &program), Code::kOk);
        got[thread].push_back(program);
        if (i == kPrograms / 2) {
          EXPECT_EQ(engine.Flush(), "");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(driver.compiled, kPrograms);
  for (const std::vector<cl_program>& programs : got) EXPECT_EQ(programs, got[0]);
}

TEST(Programs, DoWithoutAnyAllocation) {
  Driver driver;
  const Folder folder;
  Start(&driver, folder.path());
  const std::string store = folder.path("lathe_opencl_digits.bin");
  const char* path = store.c_str();
  for (int fail_at = 0;; ++fail_at) {
    FailingAllocator failing(fail_at);
    bool all_well = false;
    {
      Engine engine(&driver, folder.path(), failing.functions());
      engine.settings.binary_paths = {&path, 1};
      const auto fine = [](Code code) {
        EXPECT_TRUE(code == Code::kOk || code == Code::kOutOfMemory) << static_cast<int>(code);
        return code == Code::kOk;
      };
      all_well = fine(engine.Open());
      if (all_well) {
        all_well = fine(engine.Get(0)) && all_well;
        all_well = fine(engine.Get(1, "-DNEW")) && all_well;
        all_well = engine.Flush().empty() && all_well;
      }
    }
    EXPECT_EQ(failing.alive(), 0) << fail_at;
    if (all_well && failing.calls() < fail_at) break;
    ASSERT_LT(fail_at, 100);
  }
  EXPECT_EQ(Start(&driver, folder.path()), (Counts{0, 0, 2})) << "the store survives it";
}

// A driver as it is. Whether it takes a binary is its business; what it gives must work.
TEST(Programs, OfTheMachinesOwnDriver) {
  Reason reason;
  ClApi api = {};
  Device device = {};
  cl_context context = nullptr;
  if (Load(&api, &reason) != Code::kOk || ChooseDevice(api, {}, &device, &reason) != Code::kOk ||
      MakeContext(api, device, {}, &context, &reason) != Code::kOk)
    GTEST_SKIP() << reason.text();
  const Folder folder;
  const Texts texts({"#define SUM a[0] + 1.0f", "kernel void f(global float* a) { a[0] = SUM; }", "", "", ""});
  for (const bool stored : {false, true}) {
    Driver none;
    Engine engine(&none, folder.path());
    engine.settings.api = &api;
    engine.settings.context = context;
    engine.settings.device = &device;
    engine.settings.units = &texts.units;
    ASSERT_EQ(engine.Open(), Code::kOk);
    ASSERT_EQ(engine.Get(0, "-DA=1"), Code::kOk) << engine.messages.text();
    EXPECT_EQ(engine.Origins(), stored ? (Counts{0, 0, 1}) : (Counts{1, 0, 0}));
    cl_int error = kClSuccess;
    const cl_kernel kernel = api.CreateKernel(engine.program, "f", &error);
    EXPECT_EQ(error, kClSuccess);
    EXPECT_EQ(api.ReleaseKernel(kernel), kClSuccess);
    EXPECT_EQ(engine.Flush(), "");
    EXPECT_FALSE(engine.Save().empty());
  }
  EXPECT_EQ(api.ReleaseContext(context), kClSuccess);
}

}  // namespace
}  // namespace lathe_test
