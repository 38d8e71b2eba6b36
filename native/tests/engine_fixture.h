// A model that is built, loaded into library `test_a` and opened in one session.
#ifndef LATHE_TESTS_ENGINE_FIXTURE_H_
#define LATHE_TESTS_ENGINE_FIXTURE_H_

#include <math.h>

#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "native/tests/container_builder.h"

extern "C" const lathe_api* lathe_api_test_a(void);
extern "C" const lathe_api* lathe_api_test_b(void);

namespace lathe_test {

// y = relu(x) * 2 * 3 + 1 over four numbers; relu's result was called "Relu:0" once.
ModelBuilder ChainModel();
// relu over x[n, 3] with n in 1..8, then flattened to [n * 3].
ModelBuilder DynamicModel();
// One node of operator `pick`.
ModelBuilder PickModel(int mode);
// y = x, added to |x| as often as trips[1] says, but at most `most` times and until y[0] is 100 or more; `all` has the
// sums on the way. `planned` has a stored plan, with the body's carried value and its sum at `sum_offset`.
ModelBuilder LoopModel(int most, bool planned = false, uint64_t sum_offset = 384);

struct Loaded {
  explicit Loaded(const ModelBuilder& model, uint32_t flags = 0, const lathe_allocator* allocator = nullptr,
                  int threads = 2, const char* isa_limit = nullptr);
  Loaded(const std::string& model_bytes, const std::string& data_bytes, uint32_t flags,
         const lathe_allocator* allocator, int threads, const char* isa_limit = nullptr);
  ~Loaded();
  Loaded(const Loaded&) = delete;

  // Writes an input that is no list of floats.
  void Write(size_t input, const void* data, size_t size);
  // Writes the first input, runs, and reads an output of f32.
  std::vector<float> Run(const std::vector<float>& x, size_t output = 0);
  std::string message() const { return error.message; }

  const lathe_api* api = lathe_api_test_a();
  std::string model, data;
  lathe_error error = {};
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
};

}  // namespace lathe_test

#endif  // LATHE_TESTS_ENGINE_FIXTURE_H_
