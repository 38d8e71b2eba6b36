/* Audio front ends in fixed point: frames of 16-bit samples become rows of log mel energies or of cepstral
 * coefficients. Every number is an integer, so that the Python twin (buildtool.targets.micro.frontends) computes the
 * same bits.
 */
#ifndef LATHE_MICRO_FRONTEND_AUDIO_H_
#define LATHE_MICRO_FRONTEND_AUDIO_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lm_audio {
  uint16_t window;          /* samples of a frame */
  uint16_t size;            /* of the transform: a power of two */
  uint16_t bins;            /* mel bands */
  uint16_t coefficients;    /* of the cepstrum; 0: the bands themselves are the result */
  const int16_t* shape;     /* [window], Q15 */
  const int32_t* turns;     /* [size / 2][2]: cosines and sines, Q30 */
  const uint16_t* reversed; /* [size]: places with reversed bits */
  const uint16_t* first;    /* [bins]: the first frequency of each band */
  const uint16_t* count;    /* [bins]: and how many it has */
  const uint16_t* weights;  /* Q15, of all bands one after the other */
  const int16_t* cosines;   /* [coefficients][bins], Q14 */
  int32_t offset;           /* what a logarithm has more than the real one, Q16 */
  int64_t factor;           /* from Q16 to steps of the model's input, Q32 */
  int32_t zero;             /* zero point of the model's input */
} lm_audio;

/* One frame: `window` samples, then `coefficients` or `bins` results. `work`: 2 * size + bins integers of 32 bits. */
void lm_audio_frame(const int16_t* samples, int8_t* row, int32_t* work, const lm_audio* about);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_MICRO_FRONTEND_AUDIO_H_ */
