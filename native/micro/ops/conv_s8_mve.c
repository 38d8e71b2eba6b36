/* Convolution of bytes with MVE: four places of the output at a time, two channels of each, sixteen bytes a step.
 *
 * Patches are copied one behind the other, but for those of a window of one point, which are stretches of the image.
 * Weights: for each two channels, sixteen bytes of each in turns, with zeros at the end, so that what is read behind a
 * patch does not matter.
 */
#include "fixed_point.h"
#include "patch.h"

enum { kPlaces = 4, kStep = 16 };

/* Four places of two channels. */
#define LM_STEP              \
  "vldrb.u8 q0, [r1], #16\n" \
  "vldrb.u8 q1, [r1], #16\n" \
  "vldrb.u8 q2, [r3], #16\n" \
  "vmlava.s8 r4, q0, q2\n"   \
  "vldrb.u8 q3, [r5], #16\n" \
  "vmlava.s8 r12, q1, q2\n"  \
  "vmlava.s8 r6, q0, q3\n"   \
  "vldrb.u8 q2, [r7], #16\n" \
  "vmlava.s8 lr, q1, q3\n"   \
  "vmlava.s8 r8, q0, q2\n"   \
  "vldrb.u8 q3, [r9], #16\n" \
  "vmlava.s8 r0, q1, q2\n"   \
  "vmlava.s8 r10, q0, q3\n"  \
  "vmlava.s8 r2, q1, q3\n"

/* sums[0..3] += channel 0 at the places x, x + pitch, ..., sums[4..7] += channel 1. */
__attribute__((naked, noinline)) static void multiply(int32_t* sums, const int8_t* weights, const int8_t* x,
                                                      uint32_t pitch, uint32_t steps) {
  (void)sums, (void)weights, (void)x, (void)pitch, (void)steps;
  __asm__ volatile(
      "push {r0, r4-r11, lr}\n"
      "ldr r11, [sp, #40]\n"
      "add r5, r2, r3\n"
      "add r7, r5, r3\n"
      "add r9, r7, r3\n"
      "mov r3, r2\n"
      "ldrd r4, r6, [r0]\n"
      "ldrd r8, r10, [r0, #8]\n"
      "ldrd r12, lr, [r0, #16]\n"
      "ldrd r0, r2, [r0, #24]\n"
      "1:\n" LM_STEP
      "subs r11, #1\n"
      "bne 1b\n"
      "ldr r1, [sp]\n"
      "strd r4, r6, [r1]\n"
      "strd r8, r10, [r1, #8]\n"
      "strd r12, lr, [r1, #16]\n"
      "strd r0, r2, [r1, #24]\n"
      "pop {r0, r4-r11, pc}\n");
}

/* What `all_pairs` reads. */
typedef struct lm_pairs_of_channels {
  const int8_t* weights;
  const int8_t* x;
  uint32_t pitch;
  const int32_t* pairs;
  const int8_t* shifts;
  int8_t* y;
  uint32_t count; /* of pairs */
  uint32_t steps, bytes;
  int32_t zero, low, high;
  uint32_t offsets[4]; /* of the four places in the output */
} lm_pairs_of_channels;

/* Sums in q0 and q1, multipliers in r2 and r4, shifts in r6 and lr, the zero point in r0: results. */
#define LM_RESULTS            \
  "vqrdmulh.s32 q0, q0, r2\n" \
  "vqrdmulh.s32 q1, q1, r4\n" \
  "vshr.s32 q2, q0, #31\n"    \
  "vshr.s32 q3, q1, #31\n"    \
  "vadd.i32 q0, q0, q2\n"     \
  "vadd.i32 q1, q1, q3\n"     \
  "vrshl.s32 q0, r6\n"        \
  "vrshl.s32 q1, lr\n"        \
  "vadd.i32 q0, q0, r0\n"     \
  "vadd.i32 q1, q1, r0\n"     \
  "vmax.s32 q0, q0, q4\n"     \
  "vmax.s32 q1, q1, q4\n"     \
  "vmin.s32 q0, q0, q5\n"     \
  "vmin.s32 q1, q1, q5\n"

/* Four places of pairs of channels whose shifts are all to the right: sums, results, stores. */
__attribute__((naked, noinline)) static void all_pairs(const lm_pairs_of_channels* about) {
  (void)about;
  __asm__ volatile(
      "push {r4-r11, lr}\n"
      "vpush {d8-d13}\n"
      "ldm r0!, {r1, r3, r5}\n"
      "ldm r0!, {r4, r6, r7, r8, r9, r10, r11}\n"
      "sub sp, #28\n"
      "stm sp, {r4, r6, r7, r8, r9, r10, r11}\n"
      "ldrd r4, r6, [r0], #8\n"
      "vdup.32 q4, r4\n"
      "vdup.32 q5, r6\n"
      "vldrw.u32 q6, [r0]\n"
      "add r7, r3, r5, lsl #1\n"
      "add r9, r7, r5\n"
      "add r5, r3, r5\n"
      "1:\n"
      "ldr r11, [sp]\n"
      "ldr r4, [r11]\n"
      "ldr r12, [r11, #8]\n"
      "mov r6, r4\n"
      "mov r8, r4\n"
      "mov r10, r4\n"
      "mov lr, r12\n"
      "mov r0, r12\n"
      "mov r2, r12\n"
      "ldr r11, [sp, #16]\n"
      "2:\n" LM_STEP
      "subs r11, #1\n"
      "bne 2b\n"
      "vmov q0[2], q0[0], r4, r8\n"
      "vmov q0[3], q0[1], r6, r10\n"
      "vmov q1[2], q1[0], r12, r0\n"
      "vmov q1[3], q1[1], lr, r2\n"
      "ldrd r10, r0, [sp, #20]\n"
      "sub r3, r10\n"
      "sub r5, r10\n"
      "sub r7, r10\n"
      "sub r9, r10\n"
      "ldm sp, {r8, r10, r11, r12}\n"
      "ldr r2, [r8, #4]\n"
      "ldr r4, [r8, #12]\n"
      "ldrsb r6, [r10], #1\n"
      "ldrsb lr, [r10], #1\n" LM_RESULTS
      "vstrb.32 q0, [r11, q6]\n"
      "add r11, #1\n"
      "vstrb.32 q1, [r11, q6]\n"
      "add r11, #1\n"
      "add r8, #16\n"
      "subs r12, #1\n"
      "stm sp, {r8, r10, r11, r12}\n"
      "bne 1b\n"
      "add sp, #28\n"
      "vpop {d8-d13}\n"
      "pop {r4-r11, pc}\n");
}

/* The results of one channel at up to four places. */
static inline void store(const int32_t* sums, int8_t* y, const lm_conv* layer, uint32_t channel, uint32x4_t offsets,
                         mve_pred16_t places) {
  const int32_t multiplier = layer->scaling.pairs[2 * channel + 1];
  int32x4_t values = lm_scaled_vector(vldrwq_s32(sums), multiplier, layer->scaling.shifts[channel]);
  values = vaddq_n_s32(values, layer->bounds.out_zero);
  values = vmaxq_s32(values, vdupq_n_s32(layer->bounds.low));
  values = vminq_s32(values, vdupq_n_s32(layer->bounds.high));
  vstrbq_scatter_offset_p_s32(y, offsets, values, places);
}

static void group(const int8_t* x, uint32_t pitch, int8_t* y, const lm_conv* layer, uint32_t steps, uint32_t places) {
  const uint32_t channels = layer->image.out_c;
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), channels);
  const mve_pred16_t valid = vctp32q(places);
  const int8_t* weights = layer->weights;
  const int32_t* pairs = layer->scaling.pairs;
  uint32_t channel = 0;
  if (places == kPlaces && layer->scaling.all_right && channels > 1) {
    lm_pairs_of_channels about = {weights,
                                  x,
                                  pitch,
                                  pairs,
                                  layer->scaling.shifts,
                                  y,
                                  channels / 2,
                                  steps,
                                  kStep * steps,
                                  layer->bounds.out_zero,
                                  layer->bounds.low,
                                  layer->bounds.high,
                                  {0, channels, 2 * channels, 3 * channels}};
    all_pairs(&about);
    channel = channels / 2 * 2;
    weights += channel * kStep * steps;
    pairs += 2 * channel;
  }
  for (; channel < channels; channel += 2, weights += 2 * kStep * steps, pairs += 4) {
    int32_t sums[2 * kPlaces];
    const int two = channel + 1 < channels;
    vstrwq_s32(sums, vdupq_n_s32(pairs[0]));
    vstrwq_s32(sums + kPlaces, vdupq_n_s32(two ? pairs[2] : 0));
    multiply(sums, weights, x, pitch, steps);
    store(sums, y + channel, layer, channel, offsets, valid);
    if (two) store(sums + kPlaces, y + channel + 1, layer, channel + 1, offsets, valid);
  }
}

void lm_conv_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const uint32_t depth = (uint32_t)image->kernel_h * image->kernel_w * image->in_c;
  const uint32_t steps = (depth + kStep - 1) / kStep, pitch = (steps + 1) * kStep;
  const uint32_t count = (uint32_t)image->out_h * image->out_w;
  const int is_point = image->kernel_h == 1 && image->kernel_w == 1 && image->stride_h == 1 && image->stride_w == 1 &&
                       image->pad_top == 0 && image->pad_left == 0;
  int8_t* const patches = scratch;
  lm_place place = {0, 0};
  for (uint32_t i = 0; i < count; i += kPlaces, y += kPlaces * image->out_c) {
    const uint32_t places = count - i < kPlaces ? count - i : kPlaces;
    if (is_point && places == kPlaces) {
      group(x + i * depth, depth, y, layer, steps, places);
      continue;
    }
    for (uint32_t p = 0; p < places; ++p) {
      if (is_point) {
        memcpy(patches + p * pitch, x + (i + p) * depth, depth);
        continue;
      }
      lm_patch(x, patches + p * pitch, image, place, layer->bounds.in_zero);
      lm_next(&place, image);
    }
    group(patches, pitch, y, layer, steps, places);
  }
}
