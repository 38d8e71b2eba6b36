// Which memory of the host is lent to a device, and how, with drivers that the tests make up.
#include "native/opencl/host_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lathe::opencl {
namespace {

// What the driver was asked for.
struct Asked {
  std::string function;
  cl_mem_flags flags = 0;
  void* host = nullptr;
  size_t bytes = 0;
  std::vector<cl_import_properties_arm> properties = {};
};
std::vector<Asked> asked;
cl_int answer;

cl_mem Made() { return reinterpret_cast<cl_mem>(&asked); }
cl_context Context() { return reinterpret_cast<cl_context>(&answer); }
cl_platform_id Platform() { return reinterpret_cast<cl_platform_id>(&asked); }

cl_mem Import(cl_context context, cl_mem_flags flags, const cl_import_properties_arm* properties, void* host,
              size_t bytes, cl_int* error) {
  EXPECT_EQ(context, Context());
  asked.push_back({"import", flags, host, bytes, {properties, properties + 3}});
  *error = answer;
  return Made();
}

class OpenclHostMemory : public testing::Test {
 protected:
  OpenclHostMemory() {
    asked.clear();
    answer = kClSuccess;
    api_.CreateBuffer = [](cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* error) {
      EXPECT_EQ(context, Context());
      asked.push_back({"create", flags, host, bytes});
      *error = answer;
      return Made();
    };
    api_.GetExtensionFunctionAddressForPlatform = [](cl_platform_id platform, const char* name) {
      EXPECT_EQ(platform, Platform());
      EXPECT_STREQ(name, "clImportMemoryARM");
      return reinterpret_cast<void*>(&Import);
    };
    device_.platform = Platform();
    device_.facts.unified_memory = true;
    device_.facts.base_alignment = 128;
  }

  HostMemory Opened() const {
    HostMemory memory;
    memory.Open(api_, device_, Context());
    return memory;
  }
  // Whether memory that begins there behind the start of a page is lent.
  bool Lends(size_t at, size_t bytes = 256) {
    const size_t before = asked.size();
    const bool lent = Opened().Lend(page_ + at, bytes, true) != nullptr;
    EXPECT_EQ(asked.size() - before, lent ? 1u : 0u) << "the driver is asked only for what it can do";
    return lent;
  }

  ClApi api_ = {};
  Device device_ = {};
  alignas(4096) char page_[8192];
};

TEST_F(OpenclHostMemory, BuffersAreMadeOverIt) {
  EXPECT_EQ(Opened().Lend(page_, 640, true), Made());
  EXPECT_EQ(Opened().Lend(page_ + 128, 64, false), Made());
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].function, "create");
  EXPECT_EQ(asked[0].flags, kClMemReadWrite | kClMemUseHostPtr);
  EXPECT_EQ(asked[0].host, page_);
  EXPECT_EQ(asked[0].bytes, 640u);
  EXPECT_EQ(asked[1].flags, kClMemReadOnly | kClMemUseHostPtr);
  EXPECT_FALSE(Opened().imports());
}

TEST_F(OpenclHostMemory, IsOnlyLentWhereItsAddressAndSizeFit) {
  EXPECT_TRUE(Lends(128));
  EXPECT_FALSE(Lends(64)) << "less than the device's alignment";
  EXPECT_FALSE(Lends(128, 100)) << "ends within a line of the cache";
  device_.facts.base_alignment = 4;
  EXPECT_TRUE(Lends(64));
  EXPECT_FALSE(Lends(32)) << "begins within a line of the cache";
  device_.facts.maker = Maker::kIntel;
  EXPECT_TRUE(Lends(4096));
  EXPECT_FALSE(Lends(2048)) << "begins within a page";
}

TEST_F(OpenclHostMemory, IsNotLentWhereItWouldBeCopied) {
  for (const Maker maker : {Maker::kAdreno, Maker::kMali, Maker::kPowerVr}) {
    device_.facts.maker = maker;
    EXPECT_FALSE(Lends(0));
  }
  device_.facts.maker = Maker::kOther;
  EXPECT_TRUE(Lends(0));
  device_.facts.unified_memory = false;
  EXPECT_FALSE(Lends(0));
  device_.facts.import_host_memory = true;
  EXPECT_FALSE(Lends(0));
}

TEST_F(OpenclHostMemory, IsImportedWhereTheDriverCan) {
  device_.facts.maker = Maker::kMali;
  device_.facts.import_host_memory = true;
  EXPECT_TRUE(Opened().imports());
  EXPECT_EQ(Opened().Lend(page_ + 64, 640, false), Made());
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].function, "import");
  EXPECT_EQ(asked[0].flags, kClMemReadWrite);
  EXPECT_EQ(asked[0].host, page_ + 64);
  EXPECT_EQ(asked[0].bytes, 640u);
  const std::vector<cl_import_properties_arm> wanted = {kClImportTypeArm, kClImportTypeHostArm, 0};
  EXPECT_EQ(asked[0].properties, wanted);
  EXPECT_FALSE(Lends(32));
}

TEST_F(OpenclHostMemory, AnExtensionWithoutItsFunctionIsNone) {
  api_.GetExtensionFunctionAddressForPlatform = [](cl_platform_id, const char*) -> void* { return nullptr; };
  device_.facts.import_host_memory = true;
  EXPECT_FALSE(Opened().imports());
  EXPECT_TRUE(Lends(0));
  EXPECT_EQ(asked[0].function, "create");
}

TEST_F(OpenclHostMemory, WhatADriverRefusesIsNotLent) {
  answer = kClOutOfResources;
  EXPECT_EQ(Opened().Lend(page_, 256, true), nullptr);
  device_.facts.import_host_memory = true;
  EXPECT_EQ(Opened().Lend(page_, 256, true), nullptr);
  EXPECT_EQ(asked.size(), 2u);
}

TEST_F(OpenclHostMemory, NothingIsLentWithoutADevice) { EXPECT_EQ(HostMemory().Lend(page_, 256, true), nullptr); }

}  // namespace
}  // namespace lathe::opencl
