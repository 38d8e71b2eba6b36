// What a program of a user's does: a model of a library that is linked to it, run again and again. Tells the
// nanoseconds of every round.
//
//   plain_loop MODEL.pb MODEL.data THREADS WARMUP ROUNDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "lathe/engine.h"

extern "C" const lathe_api* LATHE_API(void);

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  lathe::EngineOptions options;
  options.model_path = argv[1];
  options.data_path = argv[2];
  options.threads = std::atoi(argv[3]);
  const int warmup = std::atoi(argv[4]), rounds = std::atoi(argv[5]);
  auto engine = lathe::Engine::Create(LATHE_API(), options);
  if (!engine.ok()) return 1;
  auto session = engine->CreateSession();
  if (!session.ok()) return 1;
  for (size_t i = 0; i < session->input_count(); ++i) {
    const auto tensor = session->Input(i);
    std::memset(tensor->bytes(), 0, tensor->byte_size());
  }
  std::vector<long long> times;
  for (int round = -warmup; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (!session->Run().ok()) return 1;
    const auto end = std::chrono::steady_clock::now();
    if (round >= 0) times.push_back(std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
  }
  for (const long long time : times) std::printf("%lld\n", time);
  return 0;
}
