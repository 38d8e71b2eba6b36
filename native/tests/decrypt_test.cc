// The cipher against RFC 8439, and encrypted model files. Files that `lathe encrypt` wrote are tested from Python.
#include "lathe/decrypt.h"

#include <gtest/gtest.h>

#include <vector>

#include "native/tests/engine_fixture.h"

namespace lathe_test {
namespace {

namespace cipher = lathe::cipher;
using Bytes = std::vector<uint8_t>;

Bytes Counted(uint8_t first, size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(first + i);
  return bytes;
}

Bytes Sum(const Bytes& key, const Bytes& message) {
  cipher::Poly1305 sum(key.data());
  sum.AddPadded(message.data(), message.size());
  Bytes tag(cipher::kTagSize);
  sum.Finish(tag.data());
  return tag;
}

TEST(Cipher, BlockOfTheKeyStream) {  // section 2.3.2
  const Bytes key = Counted(0, 32), nonce = {0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0};
  Bytes block(cipher::kBlock);
  cipher::ChaCha20(key.data(), nonce.data()).Block(1, block.data());
  EXPECT_EQ(Bytes(block.begin(), block.begin() + 16),
            (Bytes{0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4}));
  EXPECT_EQ(Bytes(block.end() - 4, block.end()), (Bytes{0xa2, 0x50, 0x3c, 0x4e}));
}

TEST(Cipher, SumsAtTheEdgesOfTheModulus) {  // appendix A.3, vectors 7, 8 and 9
  Bytes key(32);
  key[0] = 2;
  Bytes three(16), two(16), many(16, 0xff), answer(16, 0xff);
  three[0] = 3;
  two[0] = 2;
  EXPECT_EQ(Sum(key, many), three);
  many[0] = 0xfd;
  answer[0] = 0xfa;
  EXPECT_EQ(Sum(key, many), answer);
  std::fill(key.begin() + 16, key.end(), 0xff);
  EXPECT_EQ(Sum(key, two), three);
}

const char kText[] =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be "
    "it.";

TEST(Cipher, EncryptsAndAuthenticates) {  // section 2.8.2
  const Bytes key = Counted(0x80, 32), known = {0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7};
  const Bytes nonce = {7, 0, 0, 0, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47};
  Bytes text(kText, kText + strlen(kText));
  cipher::ChaCha20(key.data(), nonce.data()).Apply(text.data(), text.size());
  EXPECT_EQ(Bytes(text.begin(), text.begin() + 8), (Bytes{0xd3, 0x1a, 0x8d, 0x34, 0x64, 0x8e, 0x60, 0xdb}));
  Bytes tag(cipher::kTagSize);
  cipher::Tag(key.data(), nonce.data(), known.data(), known.size(), text.data(), text.size(), tag.data());
  EXPECT_EQ(tag,
            (Bytes{0x1a, 0xe1, 0x0b, 0x59, 0x4f, 0x09, 0xe2, 0x6a, 0x7e, 0x90, 0x2e, 0xcb, 0xd0, 0x60, 0x06, 0x91}));
}

Bytes Encrypted(const std::string& plain, const Bytes& key) {
  Bytes file(lathe::kEncryptedHead);
  memcpy(file.data(), "LATHEENC", 8);
  cipher::Store32(file.data() + 8, 1);
  cipher::Store64(file.data() + 16, plain.size());
  const Bytes nonce = Counted(77, cipher::kNonceSize);
  std::copy(nonce.begin(), nonce.end(), file.begin() + 24);
  file.insert(file.end(), plain.begin(), plain.end());
  cipher::ChaCha20(key.data(), nonce.data()).Apply(file.data() + lathe::kEncryptedHead, plain.size());
  cipher::Tag(key.data(), nonce.data(), file.data(), 36, file.data() + lathe::kEncryptedHead, plain.size(),
              file.data() + 36);
  return file;
}

TEST(Decrypt, TakesWhatIsWholeAndNothingElse) {
  const Bytes key = Counted(3, 32);
  for (const size_t size : {0, 1, 15, 16, 63, 64, 65, 1000}) {
    const std::string plain(size, 'x');
    const Bytes file = Encrypted(plain, key);
    Bytes copy = file;
    ASSERT_TRUE(lathe::Decrypt(copy.data(), copy.size(), key.data()).ok());
    EXPECT_EQ(std::string(copy.begin() + lathe::kEncryptedHead, copy.end()), plain);
    for (size_t at = 0; at < file.size(); ++at) {
      for (const int flipped : {1, 0x80, 0xff}) {
        copy = file;
        copy[at] = static_cast<uint8_t>(copy[at] ^ flipped);
        EXPECT_EQ(lathe::Decrypt(copy.data(), copy.size(), key.data()).code(), LATHE_BAD_MODEL) << at;
      }
    }
    copy = file;
    EXPECT_FALSE(lathe::Decrypt(copy.data(), copy.size() - 1, key.data()).ok());
    EXPECT_FALSE(lathe::Decrypt(copy.data(), copy.size(), Counted(4, 32).data()).ok());
  }
}

// The tests of the command have the same bytes.
TEST(Decrypt, ReadsWhatTheCommandWrites) {
  const std::string digits =
      "4c41544845454e4301000000000000000700000000000000f35815c8ff2cbe57e12cd10dfdd5b4975e73a9f00e81145c886c2097"
      "0000000000000000000000004bafbfafbdbc80";
  Bytes file;
  for (size_t at = 0; at < digits.size(); at += 2)
    file.push_back(static_cast<uint8_t>(std::stoi(digits.substr(at, 2), nullptr, 16)));
  ASSERT_TRUE(lathe::Decrypt(file.data(), file.size(), Counted(0, 32).data()).ok());
  EXPECT_EQ(std::string(file.begin() + lathe::kEncryptedHead, file.end()), "a model");
}

TEST(Decrypt, GivesAnEngineItsModel) {
  const ModelBuilder builder = ChainModel();
  const Bytes key = Counted(9, 32);
  const auto write = [&](const std::string& name, const std::string& plain) {
    const std::string path = testing::TempDir() + name;
    const Bytes file = Encrypted(plain, key);
    std::unique_ptr<FILE, int (*)(FILE*)> to(fopen(path.c_str(), "wb"), fclose);
    EXPECT_EQ(fwrite(file.data(), 1, file.size(), to.get()), file.size());
    return path;
  };
  const auto keep = [&](uint8_t* to) {
    memcpy(to, key.data(), key.size());
    return true;
  };
  const std::string pb = write("chain.pb.enc", builder.Model()), data = write("chain.data.enc", builder.data());
  auto model = lathe::DecryptedFile::Read(pb, keep);
  auto weights = lathe::DecryptedFile::Read(data, keep);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weights->bytes().data) % 64, 0u);
  lathe::EngineOptions options;
  options.threads = 1;
  options.model = model->bytes();
  options.data = weights->bytes();
  auto engine = lathe::Engine::Create(lathe_api_test_a(), options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const auto refusal = lathe::DecryptedFile::Read(pb, [](uint8_t*) { return false; }).status();
  EXPECT_EQ(refusal.message(), "there is no key for " + pb);
  const auto other = lathe::DecryptedFile::Read(pb, [](uint8_t* to) { return memset(to, 1, 32) != nullptr; }).status();
  EXPECT_EQ(other.message(), pb + ": the key is another one, or the encrypted file was changed");
  EXPECT_EQ(lathe::DecryptedFile::Read("/nowhere", keep).status().code(), LATHE_IO);
}

}  // namespace
}  // namespace lathe_test
