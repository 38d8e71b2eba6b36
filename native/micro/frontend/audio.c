/* Window, Fourier transform, mel bands, logarithm, and cosine transform, in integers. */
#include "audio.h"

/* a * b of Q30, rounded. */
static inline int32_t product(int32_t a, int32_t b) { return (int32_t)(((int64_t)a * b + ((int64_t)1 << 29)) >> 30); }

/* In place, from places with reversed bits. Values of at most 2^19 and 2^10 places cannot overflow. */
static void transform(int32_t* data, const lm_audio* about) {
  const uint32_t size = about->size;
  for (uint32_t half = 1, step = size / 2; half < size; half *= 2, step /= 2) {
    for (uint32_t k = 0; k < half; ++k) {
      const int32_t cosine = about->turns[2 * k * step], sine = about->turns[2 * k * step + 1];
      for (uint32_t at = k; at < size; at += 2 * half) {
        int32_t *a = data + 2 * at, *b = a + 2 * half;
        const int32_t re = product(b[0], cosine) + product(b[1], sine);
        const int32_t im = product(b[1], cosine) - product(b[0], sine);
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
      }
    }
  }
}

/* Q16; 0 for 0. The part behind the point takes four steps of squaring for each of its hexadecimal digits. */
static int32_t logarithm(uint64_t value) {
  if (value == 0) return 0;
  int32_t whole = 0;
  for (uint64_t rest = value; rest > 1; rest >>= 1) ++whole;
  uint32_t x = whole > 30 ? (uint32_t)(value >> (whole - 30)) : (uint32_t)(value << (30 - whole)); /* [1, 2), Q30 */
  int32_t part = 0;
  for (int bit = 0; bit < 16; ++bit) {
    const uint64_t square = ((uint64_t)x * x) >> 30;
    const uint32_t high = (uint32_t)(square >> 31);
    part = 2 * part + (int32_t)high;
    x = (uint32_t)(square >> high);
  }
  return whole * 65536 + part;
}

static int8_t stored(int64_t value, const lm_audio* about) {
  const int64_t scaled = (value >> 8) * about->factor; /* Q8 times Q32 */
  const int64_t steps = ((scaled + ((int64_t)1 << 39)) >> 40) + about->zero;
  return (int8_t)(steps < -128 ? -128 : steps > 127 ? 127 : steps);
}

void lm_audio_frame(const int16_t* samples, int8_t* row, int32_t* work, const lm_audio* about) {
  int32_t* bands = work + 2 * (uint32_t)about->size;
  for (uint32_t i = 0; i < 2 * (uint32_t)about->size; ++i) work[i] = 0;
  for (uint32_t i = 0; i < about->window; ++i) {
    const int32_t shaped = samples[i] * about->shape[i];
    work[2 * (uint32_t)about->reversed[i]] = (shaped + (1 << 10)) >> 11; /* 16 times the sample */
  }
  transform(work, about);
  const uint16_t* weight = about->weights;
  for (uint32_t band = 0; band < about->bins; ++band) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < about->count[band]; ++k) {
      const int64_t re = work[2 * (about->first[band] + k)], im = work[2 * (about->first[band] + k) + 1];
      total += (((uint64_t)(re * re) + (uint64_t)(im * im)) >> 12) * *weight++;
    }
    bands[band] = logarithm(total >> 4) - about->offset;
  }
  if (about->coefficients == 0) {
    for (uint32_t band = 0; band < about->bins; ++band) row[band] = stored(bands[band], about);
    return;
  }
  const int16_t* cosine = about->cosines;
  for (uint32_t i = 0; i < about->coefficients; ++i) {
    int64_t sum = 0;
    for (uint32_t band = 0; band < about->bins; ++band) sum += (int64_t)bands[band] * *cosine++;
    row[i] = stored((sum + (1 << 13)) >> 14, about);
  }
}
