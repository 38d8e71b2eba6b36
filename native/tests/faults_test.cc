// Lets every call that the runtime makes of the system fail once: allocations, files, mappings, starts of threads. What
// the caller sees is a code with a message, or success where the call does not matter; nothing is left behind.
//
// These definitions go before those of libc. Built with sanitizers, which also find what is leaked: see glibc_compat.h.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <string>

#include "native/tests/engine_fixture.h"

namespace {

bool counts = false;  // calls of the runtime, and not of the test
int calls = 0, fails_at = -1;
int memory = 0, files = 0, mappings = 0, threads = 0;  // that are there
const char* failed = nullptr;                          // the function

// Whether this call is the one that fails.
bool Fails(const char* function) {
  if (!counts || calls++ != fails_at) return false;
  failed = function;
  return true;
}

template <typename Function>
Function* Real(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* Allocate(void*, size_t size) {
  void* pointer = nullptr;
  if (Fails("allocation") || posix_memalign(&pointer, 64, size) != 0) return nullptr;
  ++memory;
  return pointer;
}

void Free(void*, void* pointer) {
  --memory;
  free(pointer);
}

}  // namespace

extern "C" {
int open(const char* path, int flags, ...) {
  if (Fails("open")) return errno = EMFILE, -1;
  const int file = Real("open", open)(path, flags);
  if (counts && file >= 0) ++files;
  return file;
}
int close(int file) {
  if (counts) --files;
  return Real("close", close)(file);
}
off_t lseek(int file, off_t offset, int from) {
  if (Fails("lseek")) return errno = EIO, -1;
  return Real("lseek", lseek)(file, offset, from);
}
void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  if (file >= 0 && Fails("mmap")) return errno = ENOMEM, MAP_FAILED;
  void* mapped = Real("mmap", mmap)(at, size, protection, flags, file, offset);
  if (counts && file >= 0 && mapped != MAP_FAILED) ++mappings;
  return mapped;
}
int munmap(void* at, size_t size) {
  if (counts) --mappings;
  return Real("munmap", munmap)(at, size);
}
int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*main)(void*), void* argument) {
  if (Fails("pthread_create")) return EAGAIN;
  counts = false;  // what libc does for a thread is its own affair
  const int code = Real("pthread_create", pthread_create)(handle, attributes, main, argument);
  counts = true;
  if (code == 0) ++threads;
  return code;
}
int pthread_join(pthread_t handle, void** result) {
  counts = false;
  const int code = Real("pthread_join", pthread_join)(handle, result);
  counts = true;
  --threads;
  return code;
}
}

namespace lathe_test {
namespace {

// A model in two files, opened, resized and run with three threads; the first code that is not LATHE_OK.
lathe_code OpenAndRun(const std::string& model, const std::string& data, lathe_error* error) {
  const lathe_api* api = lathe_api_test_a();
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.num_threads = 3;
  options.model_path = model.c_str();
  options.data_path = data.c_str();
  const lathe_allocator allocator = {Allocate, Free, nullptr};
  options.allocator = &allocator;
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
  counts = true;
  lathe_code code = api->engine_create(&options, &engine, error);
  if (code == LATHE_OK) code = api->session_create(engine, nullptr, &session, error);
  const lathe_shape shape = {2, {5, 3}};
  if (code == LATHE_OK) code = api->resize(session, 1, &shape, error);
  if (code == LATHE_OK) code = api->run(session, error);
  api->session_destroy(session);
  if (engine != nullptr) api->engine_destroy(engine);
  counts = false;
  return code;
}

TEST(Faults, EveryCallOfTheSystemFailsOnce) {
  ModelBuilder builder = DynamicModel();
  const std::string folder = testing::TempDir(), model = folder + "/faults.pb", data = folder + "/faults.data";
  const std::string contents[] = {builder.Model(), builder.data()};
  const std::string* paths[] = {&model, &data};
  for (int i = 0; i < 2; ++i) {
    FILE* file = fopen(paths[i]->c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(fwrite(contents[i].data(), 1, contents[i].size(), file), contents[i].size());
    fclose(file);
  }
  std::map<std::string, int> table;  // failures by function
  for (int at = 0;; ++at) {
    calls = 0, fails_at = at, failed = nullptr;
    memory = files = mappings = threads = 0;
    lathe_error error = {};
    const lathe_code code = OpenAndRun(model, data, &error);
    EXPECT_EQ(memory, 0) << at;
    EXPECT_EQ(files, 0) << at;
    EXPECT_EQ(mappings, 0) << at;
    EXPECT_EQ(threads, 0) << at;
    if (failed == nullptr) {
      EXPECT_EQ(code, LATHE_OK) << error.message;
      break;
    }
    ++table[failed];
    const bool is_file = std::string("open lseek mmap").find(failed) != std::string::npos;
    EXPECT_EQ(code, is_file ? LATHE_IO : LATHE_OUT_OF_MEMORY) << failed << ": " << error.message;
    EXPECT_NE(error.message[0], 0) << failed;
    printf("%3d %-15s -> %d %s\n", at, failed, code, error.message);
    ASSERT_LT(at, 200);
  }
  EXPECT_GE(table["allocation"], 5);
  EXPECT_EQ(table["open"], 2);
  EXPECT_EQ(table["lseek"], 2);
  EXPECT_EQ(table["mmap"], 1);  // the data file is empty
  EXPECT_EQ(table["pthread_create"], 2);
}

}  // namespace
}  // namespace lathe_test
