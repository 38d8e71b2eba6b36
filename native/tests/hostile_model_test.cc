// Thousands of spoilt containers: each is refused with a message, or runs. A sanitizer watches.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

// Refuses what would only cost time: a spoilt dimension may ask for gigabytes.
void* LimitedAlloc(void*, size_t size) {
  void* memory = nullptr;
  return size <= (size_t{1} << 24) && posix_memalign(&memory, 64, size) == 0 ? memory : nullptr;
}
void LimitedFree(void*, void* memory) { free(memory); }

struct Outcome {
  int refused = 0;
  int ran = 0;
};

void Try(const std::string& model, const std::string& data, Outcome* outcome) {
  const lathe_allocator allocator = {LimitedAlloc, LimitedFree, nullptr};
  Loaded loaded(model, data, 0, &allocator, 1);
  if (loaded.session == nullptr) {
    ++outcome->refused;
    EXPECT_NE(loaded.error.code, LATHE_OK);
    EXPECT_NE(loaded.message(), "");
    return;
  }
  ++outcome->ran;
  const lathe_api* api = loaded.api;
  void* trips = nullptr;
  size_t trips_size = 0;
  if (api->input_data(loaded.session, 1, &trips, &trips_size, &loaded.error) == LATHE_OK && trips_size > 0)
    *static_cast<char*>(trips) = 3;
  const lathe_code code = api->run(loaded.session, &loaded.error);
  if (code != LATHE_OK && trips != nullptr) return;  // a loop's sizes are found out by the run
  ASSERT_EQ(code, LATHE_OK) << loaded.message();
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  for (size_t i = 0; i < api->output_count(loaded.engine); ++i) {
    const void* bytes = nullptr;
    size_t size = 0;
    ASSERT_EQ(api->output_info(loaded.session, i, &info, &loaded.error), LATHE_OK);
    ASSERT_EQ(api->output_data(loaded.session, i, &bytes, &size, &loaded.error), LATHE_OK);
    volatile unsigned char sum = 0;
    for (size_t j = 0; j < size; ++j) sum = static_cast<unsigned char>(sum + static_cast<const char*>(bytes)[j]);
  }
  if (api->input_count(loaded.engine) != 1) return;
  lathe_shape shape = {2, {5, 3}};
  if (api->resize(loaded.session, 1, &shape, &loaded.error) != LATHE_OK) return;
  ASSERT_EQ(api->run(loaded.session, &loaded.error), LATHE_OK);
}

std::string Scales(const std::vector<float>& scales) {
  return std::string(reinterpret_cast<const char*>(scales.data()), scales.size() * sizeof(float));
}

// A model that has a bit of everything.
ModelBuilder RichModel(bool planned) {
  ModelBuilder model = DynamicModel();
  const uint32_t x = 0, r = 1, y = 2;
  const uint32_t w = model.Floats("w", {1}, {2});
  const uint32_t half = model.Constant("half", {2}, "\1\2\3\4", 1, 2);
  const DimArg rows = DimArg::Expr(0);
  const uint32_t few = model.Scaled("few", {3, 2}, "\x21\xf3\x74", 6, Scales({1, 2, 3, 4}), {3, 2, 2});
  const uint32_t s = model.Value("s", {rows, 3}, 1, {"old"});
  const uint32_t t = model.Value("t", {rows, 3});
  model.Node("scale", "sc", {r, w}, {s},
             {FloatAttr("factor", 0.5f), IntsAttr("unused", {1, -2}), StringAttr("u", "v")});
  model.Node("add", "ad", {s, r}, {t});
  model.Output(t, "NHWC");
  model.Output(half);
  model.Output(few);
  if (planned) {
    for (const char* kernel : {"relu", "view", "scale", "add"})
      model.Kernel(std::string(kernel) + "_f32_test__portable");
    const uint32_t values[] = {x, r, y, s, t};
    for (uint64_t i = 0; i < 5; ++i) model.Place(values[i], i * 128, 96);
    model.arena_size = 640;
  }
  return model;
}

TEST(HostileModel, TheModelsThemselvesRun) {
  for (const bool planned : {false, true}) {
    Outcome outcome;
    const ModelBuilder loop = LoopModel(20, planned);
    Try(loop.Model(), loop.data(), &outcome);
    EXPECT_EQ(outcome.ran, 1);
    outcome = {};
    const ModelBuilder model = RichModel(planned);
    Try(model.Model(), model.data(), &outcome);
    EXPECT_EQ(outcome.ran, 1);
    Loaded loaded(model);
    EXPECT_TRUE(loaded.session) << loaded.message();
  }
}

TEST(HostileModel, EveryTruncation) {
  for (const bool planned : {false, true}) {
    const ModelBuilder model = RichModel(planned);
    const std::string bytes = model.Model();
    Outcome outcome;
    for (size_t size = 0; size < bytes.size(); ++size) Try(bytes.substr(0, size), model.data(), &outcome);
    for (size_t size = 0; size < model.data().size(); ++size) Try(bytes, model.data().substr(0, size), &outcome);
    EXPECT_GT(outcome.refused, 300);
  }
}

TEST(HostileModel, EveryBitFlipOfALoop) {
  for (const bool planned : {false, true}) {
    const ModelBuilder model = LoopModel(20, planned);
    const std::string bytes = model.Model();
    Outcome outcome;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string spoilt = bytes;
      spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << (bit % 8)));
      Try(spoilt, model.data(), &outcome);
    }
    EXPECT_GT(outcome.refused, 500);
    EXPECT_GT(outcome.ran, 100);
  }
}

TEST(HostileModel, EveryBitFlip) {
  for (const bool planned : {false, true}) {
    const ModelBuilder model = RichModel(planned);
    const std::string bytes = model.Model();
    Outcome outcome;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string spoilt = bytes;
      spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << (bit % 8)));
      Try(spoilt, model.data(), &outcome);
    }
    EXPECT_GT(outcome.refused, 1000);
    EXPECT_GT(outcome.ran, 100);
  }
}

// A field of a message, taken apart so that it can be changed and put back together with the right lengths.
struct Field {
  uint32_t number;
  uint32_t wire;
  uint64_t scalar;
  std::string bytes;
};

bool TakeVarint(const std::string& text, size_t* position, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && *position < text.size(); shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(text[(*position)++]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeApart(const std::string& message, std::vector<Field>* fields) {
  fields->clear();
  for (size_t position = 0; position < message.size();) {
    uint64_t tag = 0, size = 0;
    if (!TakeVarint(message, &position, &tag) || tag >> 3 == 0 || tag >> 3 > 20) return false;
    Field field = {static_cast<uint32_t>(tag >> 3), static_cast<uint32_t>(tag & 7), 0, ""};
    if (field.wire == 0) {
      if (!TakeVarint(message, &position, &field.scalar)) return false;
    } else if (field.wire == 5) {
      if (position + 4 > message.size()) return false;
      field.bytes = message.substr(position, 4);
      position += 4;
    } else if (field.wire == 2) {
      if (!TakeVarint(message, &position, &size) || size > message.size() - position) return false;
      field.bytes = message.substr(position, size);
      position += size;
    } else {
      return false;
    }
    fields->push_back(field);
  }
  return !fields->empty();
}

std::string PutTogether(const std::vector<Field>& fields) {
  std::string message;
  for (const Field& field : fields) {
    PbWriter writer;
    if (field.wire == 0) message += writer.Varint(field.number, field.scalar).bytes();
    if (field.wire == 2) message += writer.Bytes(field.number, field.bytes).bytes();
    if (field.wire == 5) message += static_cast<char>(field.number << 3 | 5) + field.bytes;
  }
  return message;
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  // Goes down a random path and changes one thing.
  std::string Mutate(const std::string& message) {
    std::vector<Field> fields;
    if (!TakeApart(message, &fields)) return Scramble(message);
    Field& field = fields[Pick(static_cast<uint32_t>(fields.size()))];
    if (field.wire == 2 && !field.bytes.empty() && Pick(8) != 0) {
      field.bytes = Mutate(field.bytes);
      return PutTogether(fields);
    }
    switch (Pick(6)) {
      case 0:
        fields.erase(fields.begin() + (&field - fields.data()));
        break;
      case 1:
        fields.push_back(Field(field));
        break;
      case 2:
        std::swap(field, fields[Pick(static_cast<uint32_t>(fields.size()))]);
        break;
      case 3:
        field.number = 1 + Pick(9);
        break;
      default:
        field.scalar = Number();
        field.bytes = Scramble(field.bytes);
        break;
    }
    return PutTogether(fields);
  }

 private:
  uint32_t Pick(uint32_t count) { return std::uniform_int_distribution<uint32_t>(0, count - 1)(random_); }

  uint64_t Number() {
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       8,
                                       63,
                                       64,
                                       127,
                                       128,
                                       255,
                                       4096,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       1ull << 32,
                                       INT64_MAX,
                                       1ull << 63,
                                       UINT64_MAX,
                                       UINT64_MAX - 63};
    return numbers[Pick(sizeof(numbers) / sizeof(numbers[0]))];
  }

  std::string Scramble(std::string bytes) {
    if (bytes.empty() || Pick(4) == 0) return bytes + static_cast<char>(Pick(256));
    bytes[Pick(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(Pick(256));
    return bytes;
  }

  std::mt19937 random_;
};

TEST(HostileModel, RandomFieldEdits) {
  const char* rounds = getenv("LATHE_HOSTILE_ROUNDS");
  const int count = rounds != nullptr ? atoi(rounds) : 6000;
  Outcome outcome;
  for (int round = 0; round < count; ++round) {
    const ModelBuilder model = RichModel(round % 2 != 0);
    Mutator mutator(static_cast<uint32_t>(round));
    std::string bytes = model.Model();
    for (int edits = 1 + round % 3; edits > 0; --edits) bytes = mutator.Mutate(bytes);
    SCOPED_TRACE(round);
    Try(bytes, model.data(), &outcome);
  }
  EXPECT_GT(outcome.refused, count / 4);
  EXPECT_GT(outcome.ran, count / 20);
}

}  // namespace
}  // namespace lathe_test
