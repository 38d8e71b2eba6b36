// Reads model files that `lathe encrypt` wrote. Header only; a program that does not include it has none of it.
//
//   lathe::Result<lathe::DecryptedFile> model = lathe::DecryptedFile::Read("digits.pb.enc", key);
//   lathe::Result<lathe::DecryptedFile> data = lathe::DecryptedFile::Read("digits.data.enc", key);
//   lathe::EngineOptions options;
//   options.model = model->bytes();
//   options.data = data->bytes();  // both must outlive the engine
//
// `key` is any function `bool(uint8_t key[32])` that writes the key and says whether it had one. The cipher is ChaCha20
// with Poly1305 (RFC 8439): what was changed, cut or encrypted with another key is refused as a whole.
//
// An encrypted file is a head of 64 bytes (all numbers little endian) and the encrypted bytes:
//   0 "LATHEENC" | 8 version 1 (4 bytes) | 12 zero (4) | 16 plain size (8) | 24 nonce (12) | 36 tag (16) | 52 zero (12)
// Bytes 0 to 35 are authenticated along with what follows the head; the zeros are compared.
#ifndef LATHE_DECRYPT_H_
#define LATHE_DECRYPT_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <string>
#include <utility>

#include "lathe/engine.h"

namespace lathe {
inline namespace cpp_v1 {
namespace cipher {

constexpr size_t kKeySize = 32, kNonceSize = 12, kTagSize = 16, kBlock = 64;

inline uint32_t Load32(const uint8_t* from) {
  return static_cast<uint32_t>(from[0]) | static_cast<uint32_t>(from[1]) << 8 | static_cast<uint32_t>(from[2]) << 16 |
         static_cast<uint32_t>(from[3]) << 24;
}
inline uint64_t Load64(const uint8_t* from) { return Load32(from) | static_cast<uint64_t>(Load32(from + 4)) << 32; }
inline void Store32(uint8_t* to, uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}
inline void Store64(uint8_t* to, uint64_t value) {
  Store32(to, static_cast<uint32_t>(value));
  Store32(to + 4, static_cast<uint32_t>(value >> 32));
}

// RFC 8439, section 2.3: the key stream, block by block.
class ChaCha20 {
 public:
  ChaCha20(const uint8_t key[kKeySize], const uint8_t nonce[kNonceSize]) {
    static const uint32_t kConstants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(state_, kConstants, sizeof(kConstants));
    for (int i = 0; i < 8; ++i) state_[4 + i] = Load32(key + 4 * i);
    state_[12] = 0;
    for (int i = 0; i < 3; ++i) state_[13 + i] = Load32(nonce + 4 * i);
  }

  void Block(uint32_t counter, uint8_t out[kBlock]) {
    uint32_t x[16];
    state_[12] = counter;
    memcpy(x, state_, sizeof(x));
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < 4; ++i) Quarter(x[i], x[4 + i], x[8 + i], x[12 + i]);
      for (int i = 0; i < 4; ++i) Quarter(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 16; ++i) Store32(out + 4 * i, x[i] + state_[i]);
  }

  // Encrypts or decrypts in place, from block 1 on.
  void Apply(uint8_t* bytes, size_t size) {
    uint8_t stream[kBlock];
    uint32_t counter = 1;
    for (size_t begin = 0; begin < size; begin += kBlock) {
      Block(counter++, stream);
      const size_t length = size - begin < kBlock ? size - begin : kBlock;
      for (size_t i = 0; i < length; ++i) bytes[begin + i] = static_cast<uint8_t>(bytes[begin + i] ^ stream[i]);
    }
  }

 private:
  static uint32_t Rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }
  static void Quarter(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
    a += b;
    d = Rotate(d ^ a, 16);
    c += d;
    b = Rotate(b ^ c, 12);
    a += b;
    d = Rotate(d ^ a, 8);
    c += d;
    b = Rotate(b ^ c, 7);
  }
  uint32_t state_[16];
};

// RFC 8439, section 2.5: numbers modulo 2^130 - 5 in five limbs of 26 bits.
class Poly1305 {
 public:
  explicit Poly1305(const uint8_t key[32]) {
    static const uint32_t kClamp[5] = {0x3ffffff, 0x3ffff03, 0x3ffc0ff, 0x3f03fff, 0x00fffff};
    static const int kAt[5] = {0, 3, 6, 9, 12}, kShift[5] = {0, 2, 4, 6, 8};
    for (int i = 0; i < 5; ++i) r_[i] = Load32(key + kAt[i]) >> kShift[i] & kClamp[i];
    for (int i = 0; i < 4; ++i) pad_[i] = Load32(key + 16 + 4 * i);
  }

  // Whole blocks of 16 bytes; what is left over at the end is filled up with zeros, as RFC 8439, section 2.8 wants it.
  void AddPadded(const uint8_t* bytes, size_t size) {
    for (; size >= 16; bytes += 16, size -= 16) Add(bytes);
    if (size == 0) return;
    uint8_t last[16] = {};
    memcpy(last, bytes, size);
    Add(last);
  }

  void Finish(uint8_t tag[kTagSize]) {
    Carry();
    Carry();
    // The number less the modulus, where that is not negative; without a branch on secret data.
    uint32_t less[5], carry = 5;
    for (int i = 0; i < 5; ++i) {
      carry += h_[i];
      less[i] = carry & 0x3ffffff;
      carry >>= 26;
    }
    const uint32_t mask = 0u - carry;  // a carry out of the top says that it was at least the modulus
    for (int i = 0; i < 5; ++i) h_[i] = (h_[i] & ~mask) | (less[i] & mask);
    const uint32_t words[4] = {h_[0] | h_[1] << 26, h_[1] >> 6 | h_[2] << 20, h_[2] >> 12 | h_[3] << 14,
                               h_[3] >> 18 | h_[4] << 8};
    uint64_t sum = 0;
    for (int i = 0; i < 4; ++i) {
      sum += static_cast<uint64_t>(words[i]) + pad_[i];
      Store32(tag + 4 * i, static_cast<uint32_t>(sum));
      sum >>= 32;
    }
  }

 private:
  void Add(const uint8_t bytes[16]) {
    h_[0] += Load32(bytes) & 0x3ffffff;
    h_[1] += Load32(bytes + 3) >> 2 & 0x3ffffff;
    h_[2] += Load32(bytes + 6) >> 4 & 0x3ffffff;
    h_[3] += Load32(bytes + 9) >> 6;
    h_[4] += Load32(bytes + 12) >> 8 | 1u << 24;
    uint64_t product[5] = {};
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        const uint64_t term = static_cast<uint64_t>(h_[i]) * r_[j];
        product[(i + j) % 5] += i + j < 5 ? term : 5 * term;  // 2^130 is 5
      }
    }
    uint64_t carry = 0;
    for (int i = 0; i < 5; ++i) {
      carry += product[i];
      h_[i] = static_cast<uint32_t>(carry) & 0x3ffffff;
      carry >>= 26;
    }
    carry = h_[0] + 5 * carry;
    h_[0] = static_cast<uint32_t>(carry) & 0x3ffffff;
    h_[1] += static_cast<uint32_t>(carry >> 26);
  }
  void Carry() {
    uint32_t carry = 0;
    for (uint32_t& limb : h_) {
      limb += carry;
      carry = limb >> 26;
      limb &= 0x3ffffff;
    }
    h_[0] += 5 * carry;
  }
  uint32_t r_[5], pad_[4], h_[5] = {};
};

// RFC 8439, section 2.8: the tag of encrypted bytes and of others that are only authenticated.
inline void Tag(const uint8_t key[kKeySize], const uint8_t nonce[kNonceSize], const uint8_t* known, size_t known_size,
                const uint8_t* bytes, size_t size, uint8_t tag[kTagSize]) {
  uint8_t once[kBlock], sizes[16];
  ChaCha20(key, nonce).Block(0, once);
  Poly1305 sum(once);
  sum.AddPadded(known, known_size);
  sum.AddPadded(bytes, size);
  Store64(sizes, known_size);
  Store64(sizes + 8, size);
  sum.AddPadded(sizes, sizeof(sizes));
  sum.Finish(tag);
}

}  // namespace cipher

constexpr size_t kEncryptedHead = 64;

inline bool IsEncrypted(const void* bytes, size_t size) {
  return size >= kEncryptedHead && memcmp(bytes, "LATHEENC", 8) == 0;
}

// Decrypts in place: the plain bytes begin kEncryptedHead behind `bytes`, and are only there where the answer is OK.
inline Status Decrypt(void* bytes, size_t size, const uint8_t key[cipher::kKeySize]) {
  auto* head = static_cast<uint8_t*>(bytes);
  if (!IsEncrypted(bytes, size)) return Status(LATHE_BAD_MODEL, "this is not a file that lathe encrypt wrote");
  if (cipher::Load32(head + 8) != 1) return Status(LATHE_BAD_MODEL, "it was encrypted by a newer version of Lathe");
  if (cipher::Load64(head + 16) != size - kEncryptedHead)
    return Status(LATHE_BAD_MODEL, "the encrypted file was cut or has grown");
  const uint8_t* nonce = head + 24;
  uint8_t *text = head + kEncryptedHead, tag[cipher::kTagSize], difference = 0;
  cipher::Tag(key, nonce, head, 36, text, size - kEncryptedHead, tag);
  for (size_t i = 0; i < sizeof(tag); ++i) difference = static_cast<uint8_t>(difference | (tag[i] ^ head[36 + i]));
  for (size_t i = 52; i < kEncryptedHead; ++i) difference = static_cast<uint8_t>(difference | head[i]);
  if (difference != 0) return Status(LATHE_BAD_MODEL, "the key is another one, or the encrypted file was changed");
  cipher::ChaCha20(key, nonce).Apply(text, size - kEncryptedHead);
  return Status();
}

// A file, decrypted in memory of its own, aligned as an engine wants it.
class DecryptedFile {
 public:
  template <typename Key>
  static Result<DecryptedFile> Read(const std::string& path, const Key& key) {
    std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "rb"), fclose);
    if (file == nullptr) return Status(LATHE_IO, "cannot open " + path);
    fseek(file.get(), 0, SEEK_END);
    const long size = ftell(file.get());
    if (size < 0) return Status(LATHE_IO, "cannot read " + path);
    rewind(file.get());
    DecryptedFile made(static_cast<size_t>(size));
    if (made.memory_ == nullptr) return Status(LATHE_OUT_OF_MEMORY, "no memory for " + path);
    if (fread(made.memory_.get(), 1, made.size_, file.get()) != made.size_)
      return Status(LATHE_IO, "cannot read " + path);
    uint8_t secret[cipher::kKeySize] = {};
    if (!key(secret)) return Status(LATHE_INVALID_ARGUMENT, "there is no key for " + path);
    const Status done = Decrypt(made.memory_.get(), made.size_, secret);
    volatile uint8_t* wiped = secret;
    for (size_t i = 0; i < sizeof(secret); ++i) wiped[i] = 0;
    if (!done.ok()) return Status(done.code(), path + ": " + done.message());
    return made;
  }

  lathe_bytes bytes() const {
    return {static_cast<const uint8_t*>(memory_.get()) + kEncryptedHead, size_ - kEncryptedHead};
  }

 private:
  explicit DecryptedFile(size_t size) : memory_(nullptr, free), size_(size) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, size == 0 ? 1 : size) == 0) memory_.reset(memory);
  }
  std::unique_ptr<void, void (*)(void*)> memory_;
  size_t size_;
};

}  // namespace cpp_v1
}  // namespace lathe

#endif  // LATHE_DECRYPT_H_
