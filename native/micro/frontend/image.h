/* Image front end: a part of an 8-bit image is resized, and its values become the model's input through a table.
 * Every number is an integer, so that the Python twin (buildtool.targets.micro.frontends) computes the same bits.
 */
#ifndef LATHE_MICRO_FRONTEND_IMAGE_H_
#define LATHE_MICRO_FRONTEND_IMAGE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lm_picture {
  uint16_t in_w, channels, out_h, out_w;
  const uint16_t* rows;    /* [out_h][2]: the row above, and the weight of the next one, of 256 */
  const uint16_t* columns; /* [out_w][2] */
  const uint16_t* last;    /* the last row and column of the part */
  const int8_t* table;     /* [channels][256]: the stored value of each byte */
} lm_picture;

void lm_picture_input(const uint8_t* image, int8_t* input, const lm_picture* about);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_MICRO_FRONTEND_IMAGE_H_ */
