/* An LSTM layer of bytes, for any processor: gates and cells have 16 bits. Each unit computes its four gates at once.
 */
#include "dot.h"

enum { kGates = 4, kGateBits = 3 /* integer bits of a gate before its function */ };

static int32_t clipped(int32_t value) { return value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value; }

/* Twice the product, its upper 16 bits, rounded. Nothing here multiplies -2^15 by itself. */
static int32_t product(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

/* exp of numbers up to 0 with this many integer bits, Q0.15: a series near -1/8, times powers. */
static int32_t exponential(int32_t value, int integer_bits) {
  static const int16_t powers[] = {25520, 19875, 12055, 4435, 600, 11, 0}; /* exp(-2^k) for k = -2..4 */
  if (value == 0) return INT16_MAX;
  const int fraction_bits = 15 - integer_bits;
  if (integer_bits > 5 && value < -((int32_t)1 << (fraction_bits + 5))) return 0;
  const int32_t quarter = (int32_t)1 << (fraction_bits - 2);
  const int32_t part = (value & (quarter - 1)) - quarter;
  const int32_t x = lm_shifted_left(part, integer_bits) + (1 << 12);
  const int32_t x2 = product(x, x), x3 = product(x2, x), x4 = product(x2, x2);
  const int32_t terms = lm_shifted_right(product(lm_shifted_right(x4, 2) + x3, 10923) + x2, 1);
  int32_t found = clipped(28918 + product(28918, clipped(x + terms)));
  const int32_t left = part - value;
  for (int k = 0; k < 7 && k < integer_bits + 2; ++k)
    if ((left >> (fraction_bits + k - 2)) & 1) found = product(found, powers[k]);
  return found;
}

/* 2 / (1 + x) for x in [0, 1), Q2.13, by three steps of Newton's method. */
static int32_t inverse(int32_t x) {
  const int32_t half = (x + INT16_MAX + 1) >> 1;
  int32_t found = 23130 + product(half, -15420);
  for (int k = 0; k < 3; ++k)
    found = clipped(found + clipped(lm_shifted_left(product(found, (1 << 13) - product(half, found)), 2)));
  return found;
}

static int32_t sigmoid(int32_t value) {
  if (value == 0) return 1 << 14;
  const int32_t found = clipped(lm_shifted_left(inverse(exponential(value > 0 ? -value : value, kGateBits)), 1));
  return value > 0 ? found : INT16_MAX - found;
}

static int32_t hyperbolic(int32_t value, int integer_bits) {
  if (value == 0) return 0;
  const int32_t x = inverse(exponential(value > 0 ? -value : value, integer_bits + 1));
  const int32_t found = clipped(lm_shifted_left(x - (1 << 13), 2));
  return value > 0 ? found : -found;
}

/* The cell of a unit, and what it gives, before it is stored. */
static int32_t advance(const int32_t* gates, int16_t* cell, const lm_lstm* layer) {
  const int32_t in = sigmoid(gates[0]), forget = sigmoid(gates[1]), out = sigmoid(gates[3]);
  const int32_t fresh = lm_shifted_right(in * hyperbolic(gates[2], kGateBits), 30 - layer->cell_shift);
  int32_t state = clipped(lm_shifted_right(forget * *cell, 15) + fresh);
  if (state > layer->clip) state = layer->clip;
  if (state < -layer->clip) state = -layer->clip;
  *cell = (int16_t)state;
  return out * hyperbolic(state, 15 - layer->cell_shift);
}

void lm_lstm_s8(const int8_t* x, int8_t* y, void* scratch, const lm_lstm* layer) {
  const uint32_t in = layer->in_c, units = layer->units;
  int16_t* const cells = scratch;
  int8_t* const first = (int8_t*)(cells + units);
  for (uint32_t batch = 0; batch < layer->batches; ++batch) {
    const int8_t* seen = x + batch * layer->in_batch;
    int8_t* made = y + batch * layer->out_batch;
    const int8_t* last = first;
    for (uint32_t k = 0; k < units; ++k) cells[k] = 0, first[k] = layer->zero;
    for (uint32_t step = 0; step < layer->steps; ++step, seen += layer->in_step, made += layer->out_step) {
      const int8_t* weights = layer->weights;
      const int32_t* biases = layer->biases;
      for (uint32_t unit = 0; unit < units; ++unit, biases += 2 * kGates) {
        int32_t given[kGates], kept[kGates];
        memcpy(given, biases, sizeof given);
        memcpy(kept, biases + kGates, sizeof kept);
        weights = lm_dot4_s8(seen, in, weights, given);
        weights = lm_dot4_s8(last, units, weights, kept);
        for (int k = 0; k < kGates; ++k) {
          const lm_factor one = layer->given[k], other = layer->kept[k];
          given[k] = clipped(lm_scaled(given[k], one.multiplier, one.shift));
          given[k] = clipped(given[k] + lm_scaled(kept[k], other.multiplier, other.shift));
        }
        const int32_t value = advance(given, cells + unit, layer);
        made[unit] =
            lm_clamped(lm_scaled(value, layer->hidden.multiplier, layer->hidden.shift) + layer->zero, -128, 127);
      }
      last = made;
    }
  }
}
