// Verifies what `lathe sign` signed: models, libraries, any file. Header only, C99 or C++, without other libraries.
//
//   static const uint8_t kKey[LATHE_KEY_SIZE] = {...};  // the public key, from the file <key>.pub
//   if (!lathe_verify(bytes, size, signature, kKey)) return "somebody changed it";
//
// or for a file whose signature lies beside it as `<path>.sig`:
//
//   FILE* file = fopen(path, "rb");
//   if (!lathe_verify_file(file, path, kKey)) ...
//
// Use what was verified, not what the path names by then: read on from the same open file (it is at its beginning
// again), or load a library from it as "/proc/self/fd/<number>".
//
// The signature is Ed25519 (RFC 8032) of the whole file, 64 bytes, as OpenSSL makes and reads it. Keys and signatures
// are public, so that the time it takes may depend on them.
#ifndef LATHE_VERIFY_H_
#define LATHE_VERIFY_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATHE_KEY_SIZE 32
#define LATHE_SIGNATURE_SIZE 64

// ---------------------------------------------------------------------------------------------------------------------
// SHA-512 (FIPS 180-4)

typedef struct {
  uint64_t state[8];
  uint64_t count;  // bytes so far
  uint8_t block[128];
} lathe_sha512;

static inline void lathe_sha512_begin(lathe_sha512* hash) {
  static const uint64_t kBegin[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                     0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  memcpy(hash->state, kBegin, sizeof(kBegin));
  hash->count = 0;
}

static inline uint64_t lathe_rotated(uint64_t x, int bits) { return x >> bits | x << (64 - bits); }

static inline void lathe_sha512_block(lathe_sha512* hash, const uint8_t* bytes) {
  static const uint64_t kRound[80] = {
      0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
      0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
      0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
      0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
      0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
      0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
      0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
      0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
      0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
      0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
      0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
      0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
      0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
      0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
      0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
      0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};
  uint64_t w[16], s[8];
  int i, j;
  for (i = 0; i < 16; ++i) {
    w[i] = 0;
    for (j = 0; j < 8; ++j) w[i] = w[i] << 8 | bytes[8 * i + j];
  }
  memcpy(s, hash->state, sizeof(s));
  for (i = 0; i < 80; ++i) {
    uint64_t first, second;
    if (i >= 16) {
      const uint64_t old = w[(i + 1) & 15], late = w[(i + 14) & 15];
      w[i & 15] += w[(i + 9) & 15] + (lathe_rotated(old, 1) ^ lathe_rotated(old, 8) ^ old >> 7) +
                   (lathe_rotated(late, 19) ^ lathe_rotated(late, 61) ^ late >> 6);
    }
    first = s[7] + (lathe_rotated(s[4], 14) ^ lathe_rotated(s[4], 18) ^ lathe_rotated(s[4], 41)) +
            ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i & 15];
    second = (lathe_rotated(s[0], 28) ^ lathe_rotated(s[0], 34) ^ lathe_rotated(s[0], 39)) +
             ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += first;
    s[0] = first + second;
  }
  for (i = 0; i < 8; ++i) hash->state[i] += s[i];
}

static inline void lathe_sha512_add(lathe_sha512* hash, const void* data, size_t size) {
  const uint8_t* bytes = (const uint8_t*)data;
  while (size > 0) {
    const size_t held = (size_t)(hash->count % 128), room = 128 - held, part = size < room ? size : room;
    memcpy(hash->block + held, bytes, part);
    hash->count += part;
    bytes += part;
    size -= part;
    if (part == room) lathe_sha512_block(hash, hash->block);
  }
}

static inline void lathe_sha512_end(lathe_sha512* hash, uint8_t digest[64]) {
  const uint64_t count = hash->count;
  uint8_t end[16] = {0};
  int i, j;
  lathe_sha512_add(hash, "\x80", 1);
  while (hash->count % 128 != 112) lathe_sha512_add(hash, "", 1);  // a zero byte
  for (i = 0; i < 8; ++i) end[15 - i] = (uint8_t)(count << 3 >> (8 * i));
  end[7] = (uint8_t)(count >> 61);
  lathe_sha512_add(hash, end, sizeof(end));
  for (i = 0; i < 8; ++i) {
    for (j = 0; j < 8; ++j) digest[8 * i + j] = (uint8_t)(hash->state[i] >> (56 - 8 * j));
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers modulo p = 2^255 - 19, in eight words of 32 bits. Any number below 2^256 stands for its rest.

typedef struct {
  uint32_t word[8];
} lathe_number;

// Adds a carry out of 2^256, which is 38.
static inline void lathe_fold(lathe_number* x, uint64_t carry) {
  while (carry != 0) {
    int i;
    carry *= 38;
    for (i = 0; i < 8; ++i) {
      carry += x->word[i];
      x->word[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
}

static inline lathe_number lathe_sum(const lathe_number* a, const lathe_number* b) {
  lathe_number sum;
  uint64_t carry = 0;
  int i;
  for (i = 0; i < 8; ++i) {
    carry += (uint64_t)a->word[i] + b->word[i];
    sum.word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  lathe_fold(&sum, carry);
  return sum;
}

static inline lathe_number lathe_difference(const lathe_number* a, const lathe_number* b) {
  lathe_number less = *a;
  const uint32_t* minus = b->word;
  static const uint32_t kFold[8] = {38, 0, 0, 0, 0, 0, 0, 0};
  for (;;) {
    int64_t borrow = 0;
    int i;
    for (i = 0; i < 8; ++i) {
      borrow += (int64_t)less.word[i] - minus[i];
      less.word[i] = (uint32_t)borrow;
      borrow = borrow < 0 ? -1 : 0;
    }
    if (borrow == 0) return less;
    minus = kFold;  // 2^256 was borrowed
  }
}

static inline lathe_number lathe_product(const lathe_number* a, const lathe_number* b) {
  uint32_t wide[16] = {0};
  lathe_number product;
  uint64_t carry;
  int i, j;
  for (i = 0; i < 8; ++i) {
    carry = 0;
    for (j = 0; j < 8; ++j) {
      carry += (uint64_t)a->word[i] * b->word[j] + wide[i + j];
      wide[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    wide[i + 8] = (uint32_t)carry;
  }
  carry = 0;
  for (i = 0; i < 8; ++i) {
    carry += wide[i] + (uint64_t)38 * wide[i + 8];
    product.word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  lathe_fold(&product, carry);
  return product;
}

// The rest itself, below p.
static inline lathe_number lathe_reduced(const lathe_number* x) {
  lathe_number rest = *x;
  int round, i;
  for (round = 0; round < 2; ++round) {  // of a number below 2^256, then of one below 2^255 + 19
    uint64_t carry = (uint64_t)19 * (rest.word[7] >> 31);
    rest.word[7] &= 0x7fffffff;
    for (i = 0; i < 8; ++i) {
      carry += rest.word[i];
      rest.word[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  for (i = 1; i < 8; ++i) {
    if (rest.word[i] != (i == 7 ? 0x7fffffffu : 0xffffffffu)) return rest;
  }
  if (rest.word[0] >= 0xffffffedu) {  // p to p + 18
    const uint32_t low = rest.word[0] - 0xffffffedu;
    memset(&rest, 0, sizeof(rest));
    rest.word[0] = low;
  }
  return rest;
}

static inline int lathe_equal(const lathe_number* a, const lathe_number* b) {
  const lathe_number x = lathe_reduced(a), y = lathe_reduced(b);
  return memcmp(&x, &y, sizeof(x)) == 0;
}

// x to the power of 2^bits - less, for a small `less`.
static inline lathe_number lathe_power(const lathe_number* x, int bits, uint32_t less) {
  const uint32_t low = (uint32_t)0 - less;  // the lowest 32 bits; all others are ones
  lathe_number result = *x;
  int i;
  for (i = bits - 2; i >= 0; --i) {
    result = lathe_product(&result, &result);
    if (i >= 32 || (low >> i & 1) != 0) result = lathe_product(&result, x);
  }
  return result;
}

static inline lathe_number lathe_loaded(const uint8_t bytes[32]) {
  lathe_number x;
  int i;
  for (i = 0; i < 8; ++i) {
    x.word[i] = (uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
                (uint32_t)bytes[4 * i + 3] << 24;
  }
  return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// Points of the curve -x^2 + y^2 = 1 + d x^2 y^2, as x = X/Z, y = Y/Z, T = XY/Z.

typedef struct {
  lathe_number x, y, z, t;
} lathe_curve_point;

static const lathe_number kLatheOne = {{1, 0, 0, 0, 0, 0, 0, 0}};
static const lathe_number kLatheD = {
    {0x135978a3, 0x75eb4dca, 0x4141d8ab, 0x00700a4d, 0x7779e898, 0x8cc74079, 0x2b6ffe73, 0x52036cee}};

// Also of a point with itself, and with the neutral one.
static inline lathe_curve_point lathe_added(const lathe_curve_point* p, const lathe_curve_point* q) {
  lathe_number first = lathe_difference(&p->y, &p->x), second = lathe_difference(&q->y, &q->x), a, b, c, d, e, f, g, h;
  lathe_curve_point sum;
  a = lathe_product(&first, &second);
  first = lathe_sum(&p->y, &p->x);
  second = lathe_sum(&q->y, &q->x);
  b = lathe_product(&first, &second);
  c = lathe_product(&p->t, &q->t);
  c = lathe_product(&c, &kLatheD);
  c = lathe_sum(&c, &c);
  d = lathe_product(&p->z, &q->z);
  d = lathe_sum(&d, &d);
  e = lathe_difference(&b, &a);
  f = lathe_difference(&d, &c);
  g = lathe_sum(&d, &c);
  h = lathe_sum(&b, &a);
  sum.x = lathe_product(&e, &f);
  sum.y = lathe_product(&g, &h);
  sum.z = lathe_product(&f, &g);
  sum.t = lathe_product(&e, &h);
  return sum;
}

// The negative of a point in its 32 bytes; 0 where they are none.
static inline int lathe_negative_point(const uint8_t bytes[32], lathe_curve_point* point) {
  static const lathe_number kRoot = {
      // of -1
      {0x4a0ea0b0, 0xc4ee1b27, 0xad2fe478, 0x2f431806, 0x3dfbd7a7, 0x2b4d0099, 0x4fc1df0b, 0x2b832480}};
  static const lathe_number kZero = {{0, 0, 0, 0, 0, 0, 0, 0}};
  lathe_number y = lathe_loaded(bytes), square, u, v, x, power, check;
  const uint32_t sign = y.word[7] >> 31;
  y.word[7] &= 0x7fffffff;
  check = lathe_reduced(&y);
  if (memcmp(&check, &y, sizeof(y)) != 0) return 0;  // p or more
  square = lathe_product(&y, &y);
  u = lathe_difference(&square, &kLatheOne);
  v = lathe_product(&square, &kLatheD);
  v = lathe_sum(&v, &kLatheOne);
  // x = u v^3 (u v^7)^((p - 5) / 8) is a root of u / v, or of its negative.
  power = lathe_product(&v, &v);
  power = lathe_product(&power, &v);
  x = lathe_product(&power, &u);
  power = lathe_product(&power, &power);
  power = lathe_product(&power, &v);
  power = lathe_product(&power, &u);
  power = lathe_power(&power, 252, 3);
  x = lathe_product(&x, &power);
  check = lathe_product(&x, &x);
  check = lathe_product(&check, &v);
  if (!lathe_equal(&check, &u)) {
    u = lathe_difference(&kZero, &u);
    if (!lathe_equal(&check, &u)) return 0;
    x = lathe_product(&x, &kRoot);
  }
  x = lathe_reduced(&x);
  if (sign != 0 && memcmp(&x, &kZero, sizeof(x)) == 0) return 0;
  point->x = (x.word[0] & 1) == sign ? lathe_difference(&kZero, &x) : x;
  point->y = y;
  point->z = kLatheOne;
  point->t = lathe_product(&point->x, &y);
  return 1;
}

// ---------------------------------------------------------------------------------------------------------------------
// The signature: s B = R + h A, where h is the hash of R, A and the message

static const uint32_t kLatheOrder[8] = {0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0, 0, 0, 0x10000000};

// Whether it is below the order of the base point.
static inline int lathe_is_scalar(const lathe_number* x) {
  int i;
  for (i = 7; i >= 0; --i) {
    if (x->word[i] != kLatheOrder[i]) return x->word[i] < kLatheOrder[i];
  }
  return 0;
}

// The rest of a hash modulo that order, bit by bit.
static inline lathe_number lathe_scalar(const uint8_t digest[64]) {
  lathe_number rest = {{0, 0, 0, 0, 0, 0, 0, 0}};
  int bit, i;
  for (bit = 511; bit >= 0; --bit) {
    uint32_t in = digest[bit / 8] >> (bit % 8) & 1;
    for (i = 0; i < 8; ++i) {
      const uint32_t out = rest.word[i] >> 31;
      rest.word[i] = rest.word[i] << 1 | in;
      in = out;
    }
    if (!lathe_is_scalar(&rest)) {
      int64_t borrow = 0;
      for (i = 0; i < 8; ++i) {
        borrow += (int64_t)rest.word[i] - kLatheOrder[i];
        rest.word[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
      }
    }
  }
  return rest;
}

// Begins the hash of a message, which lathe_sha512_add goes on with.
static inline void lathe_verify_begin(lathe_sha512* hash, const uint8_t signature[LATHE_SIGNATURE_SIZE],
                                      const uint8_t key[LATHE_KEY_SIZE]) {
  lathe_sha512_begin(hash);
  lathe_sha512_add(hash, signature, 32);
  lathe_sha512_add(hash, key, LATHE_KEY_SIZE);
}

// 1 where the signature is that of the message by the owner of the key, else 0.
static inline int lathe_verify_end(lathe_sha512* hash, const uint8_t signature[LATHE_SIGNATURE_SIZE],
                                   const uint8_t key[LATHE_KEY_SIZE]) {
  static const lathe_number kBaseX = {
      {0x8f25d51a, 0xc9562d60, 0x9525a7b2, 0x692cc760, 0xfdd6dc5c, 0xc0a4e231, 0xcd6e53fe, 0x216936d3}};
  static const lathe_number kBaseY = {
      {0x66666658, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666, 0x66666666}};
  const lathe_number s = lathe_loaded(signature + 32);
  lathe_number h, inverse, x;
  lathe_curve_point base, minus, both, sum;
  uint8_t digest[64], found[32];
  int bit, i;
  lathe_sha512_end(hash, digest);
  if (!lathe_is_scalar(&s) || !lathe_negative_point(key, &minus)) return 0;
  h = lathe_scalar(digest);
  base.x = kBaseX;
  base.y = kBaseY;
  base.z = kLatheOne;
  base.t = lathe_product(&kBaseX, &kBaseY);
  both = lathe_added(&base, &minus);
  memset(&sum, 0, sizeof(sum));
  sum.y = sum.z = kLatheOne;
  for (bit = 252; bit >= 0; --bit) {  // s B - h A
    const int of_base = s.word[bit / 32] >> (bit % 32) & 1, of_key = h.word[bit / 32] >> (bit % 32) & 1;
    sum = lathe_added(&sum, &sum);
    if (of_base || of_key) sum = lathe_added(&sum, of_base && of_key ? &both : of_base ? &base : &minus);
  }
  inverse = lathe_power(&sum.z, 255, 21);
  x = lathe_product(&sum.x, &inverse);
  x = lathe_reduced(&x);
  h = lathe_product(&sum.y, &inverse);
  h = lathe_reduced(&h);
  h.word[7] |= (x.word[0] & 1) << 31;
  for (i = 0; i < 32; ++i) found[i] = (uint8_t)(h.word[i / 4] >> (8 * (i % 4)));
  return memcmp(found, signature, sizeof(found)) == 0;
}

// The same for a message in memory.
static inline int lathe_verify(const void* message, size_t size, const uint8_t signature[LATHE_SIGNATURE_SIZE],
                               const uint8_t key[LATHE_KEY_SIZE]) {
  lathe_sha512 hash;
  lathe_verify_begin(&hash, signature, key);
  lathe_sha512_add(&hash, message, size);
  return lathe_verify_end(&hash, signature, key);
}

// The same for an open file (NULL is an error like others) and the signature in `<path>.sig`. The file is read from its
// beginning to its end, and is at its beginning afterwards. 0 also where something cannot be read.
static inline int lathe_verify_file(FILE* file, const char* path, const uint8_t key[LATHE_KEY_SIZE]) {
  uint8_t signature[LATHE_SIGNATURE_SIZE + 1], piece[4096];
  const size_t length = strlen(path);
  char* name = (char*)malloc(length + 5);
  FILE* beside;
  size_t size;
  lathe_sha512 hash;
  if (file == NULL || name == NULL) {
    free(name);
    return 0;
  }
  memcpy(name, path, length);
  memcpy(name + length, ".sig", 5);
  beside = fopen(name, "rb");
  free(name);
  if (beside == NULL) return 0;
  size = fread(signature, 1, sizeof(signature), beside);
  fclose(beside);
  if (size != LATHE_SIGNATURE_SIZE || fseek(file, 0, SEEK_SET) != 0) return 0;
  lathe_verify_begin(&hash, signature, key);
  while ((size = fread(piece, 1, sizeof(piece), file)) > 0) lathe_sha512_add(&hash, piece, size);
  if (ferror(file)) return 0;
  return fseek(file, 0, SEEK_SET) == 0 && lathe_verify_end(&hash, signature, key);
}

#endif  // LATHE_VERIFY_H_
