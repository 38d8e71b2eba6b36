/* Images: from the formats of cameras to the tensors of models, and from the outputs of models to boxes and texts.
 *
 * The functions are in a table, lathe_vision_api. A tailored library holds those that its deployment asks for
 * (`preprocess:` of an input, `vision:` of the library) and returns them as `vision` of its lathe_api: functions that
 * it lacks are NULL, and so is the table where it holds none. The library `lathe_vision` holds all of them, but for
 * run_image, and no model: lathe_vision_functions().
 *
 * No function allocates memory, keeps any or throws. Functions that can fail return a lathe_code and, where `error` is
 * not NULL, fill it in; they have written nothing then. Images of 1x1 to 32768x32768 pixels, of odd sizes too, may have
 * rows with gaps. Source and target must not overlap, but for `convert` between formats of whole pixels, whose target
 * may be the memory of its source where a pixel does not become larger.
 */
#ifndef LATHE_VISION_H_
#define LATHE_VISION_H_

#include "lathe/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t lathe_pixels;
enum {
  LATHE_RGB = 1,
  LATHE_BGR = 2,
  LATHE_RGBA = 3,
  LATHE_BGRA = 4,
  LATHE_GRAY = 5,
  LATHE_NV12 = 6, /* Y; U and V alternate, for each 2x2 pixels */
  LATHE_NV21 = 7, /* Y; V and U alternate */
  LATHE_I420 = 8, /* Y; U; V */
  LATHE_YUYV = 9  /* Y U Y V: two pixels; rows of odd widths end with a whole one */
};

/* What Y, U and V mean. */
enum {
  LATHE_YUV_FULL = 0,  /* BT.601, 0 to 255: JPEG, the cameras of phones */
  LATHE_YUV_VIDEO = 1, /* BT.601, Y from 16 to 235 */
  LATHE_YUV_HD = 2     /* BT.709, Y from 16 to 235 */
};

enum {
  LATHE_NEAREST = 0,  /* the pixel in which the centre of the new one lies */
  LATHE_BILINEAR = 1, /* between the centres of four pixels; edges go on */
  LATHE_AREA = 2      /* the mean of the area that the new pixel covers */
};

enum {
  LATHE_FLIP_NONE = 0,
  LATHE_FLIP_X = 1, /* about the x axis: the last row becomes the first */
  LATHE_FLIP_Y = 2, /* about the y axis: the last column becomes the first */
  LATHE_FLIP_XY = 3
};

typedef struct lathe_image {
  uint32_t struct_size;
  lathe_pixels pixels;
  uint32_t yuv; /* LATHE_YUV_FULL, ... */
  int32_t width;
  int32_t height;
  void* data[3];     /* planes; where the second or third is NULL, it follows the one before it */
  size_t strides[3]; /* bytes from row to row; 0: there are no gaps */
} lathe_image;

/* How bytes become elements of a tensor: (byte - mean) * scale, and stored = round(element / quantum) + zero_point. */
typedef struct lathe_elements {
  uint32_t struct_size;
  lathe_dtype dtype;  /* LATHE_F32, LATHE_F16, LATHE_S8, LATHE_U8 */
  lathe_pixels order; /* the channels: LATHE_RGB, LATHE_BGR, LATHE_RGBA, LATHE_BGRA or LATHE_GRAY */
  uint32_t planes;    /* 0: channels last (NHWC); 1: one plane after the other (NCHW) */
  float mean[4];      /* by channel of the tensor */
  float scale[4];
  float quantum; /* of 8-bit tensors; 0: 1 */
  int32_t zero_point;
} lathe_elements;

enum {
  LATHE_STRETCH = 0,
  LATHE_LETTERBOX = 1,        /* keeps proportions, in the middle; the rest is `fill` */
  LATHE_LETTERBOX_CORNER = 2, /* the same, in the upper left corner */
  LATHE_PAD = 3,        /* the image gets borders of `fill`, and so the tensor's proportions, before it is resized */
  LATHE_PAD_CORNER = 4, /* the same: the borders are on the right and below */
  /* Added to all but LATHE_STRETCH: a side whose pixels are no integer is rounded down, or up; else to the nearest. */
  LATHE_LETTERBOX_DOWN = 16,
  LATHE_LETTERBOX_UP = 32
};

/* Which part of an image fills a tensor, and how: crop, rotation, flip, resize. */
typedef struct lathe_view {
  uint32_t struct_size;
  int32_t left; /* of the part, in pixels of the image */
  int32_t top;
  int32_t width; /* 0: the whole image */
  int32_t height;
  uint32_t filter;   /* LATHE_NEAREST, ... */
  uint32_t rotation; /* clockwise: 0, 90, 180, 270 */
  uint32_t flip;     /* after the rotation */
  uint32_t fit;      /* LATHE_STRETCH, ... */
  uint8_t fill[4];   /* by channel of the tensor, before mean and scale */
} lathe_view;

/* From pixels of the tensor to pixels of the image: x = matrix[0] * x' + matrix[1] * y' + matrix[2], y alike. */
typedef struct lathe_placement {
  float matrix[6];
  int32_t width; /* of the image */
  int32_t height;
} lathe_placement;

typedef struct lathe_box {
  float left;
  float top;
  float right;
  float bottom;
  float score;
  int32_t label;
  int32_t source; /* the index of the candidate in the output of the model */
} lathe_box;

/* Outputs of detectors of the YOLO family. A candidate is `values` numbers: centre x, centre y, width, height, the
 * score of an object (with `objectness`), the scores of the classes. */
typedef struct lathe_yolo {
  uint32_t struct_size;
  int32_t candidates;
  int32_t classes;
  uint32_t objectness; /* 1: there is a score of an object, which multiplies those of the classes */
  uint32_t transposed; /* 0: candidate by candidate; 1: value by value (YOLOv8) */
  uint32_t logits;     /* 1: scores are to go through the sigmoid */
  uint32_t grids; /* 1: centres and sizes are relative to the cells of grids: (x + column) * stride, exp(w) * stride */
  int32_t width;  /* of the tensor that the model reads; for `grids` */
  int32_t height;
  int32_t stride_count; /* for `grids`: the strides, in the order of the candidates */
  int32_t strides[8];
  float least; /* candidates of lower scores are left out */
} lathe_yolo;

/* Outputs of SSD detectors: offsets of boxes from anchors (centre x, centre y, width, height; 0 to 1). */
typedef struct lathe_ssd {
  uint32_t struct_size;
  int32_t candidates;
  int32_t classes;    /* with the background, where there is one */
  int32_t background; /* the class of the background; -1: none */
  uint32_t logits;    /* 0: scores as they are; 1: sigmoid; 2: softmax */
  uint32_t y_first;   /* 1: offsets are y, x, height, width (TensorFlow); 0: x, y, width, height */
  float variances[4]; /* that multiply the offsets, in their order: x, y, width, height */
  float least;
} lathe_ssd;

typedef struct lathe_point {
  float x; /* in cells of the heat map, the centre of the first is 0 */
  float y;
  float score;
} lathe_point;

/* A decoded sequence: labels without blanks and repetitions. */
typedef struct lathe_text {
  int32_t length;
  float score; /* greedy: the mean probability of the labels; beam: the logarithm of the probability */
} lathe_text;

#define LATHE_VISION_MAX_BEAMS 32
#define LATHE_VISION_MAX_LABELS 256

struct lathe_vision_api {
  uint32_t struct_size;

  /* Any format to any other of the same size; between formats with Y, U and V, `yuv` must be equal. */
  lathe_code (*convert)(const lathe_image* from, const lathe_image* to, lathe_error* error);
  /* The same format, but for LATHE_YUYV. Planes of U and V are resized each. */
  lathe_code (*resize)(const lathe_image* from, const lathe_image* to, uint32_t filter, lathe_error* error);
  /* Clockwise by 90, 180 or 270 degrees, but for LATHE_YUYV. */
  lathe_code (*rotate)(const lathe_image* from, const lathe_image* to, uint32_t degrees, lathe_error* error);
  lathe_code (*flip)(const lathe_image* from, const lathe_image* to, uint32_t axes, lathe_error* error);
  /* Whole pixels; `matrix` goes from pixels of `to` to pixels of `from` (centres at integers). LATHE_NEAREST or
   * LATHE_BILINEAR; what lies outside of `from` is `fill`. */
  lathe_code (*warp)(const lathe_image* from, const lathe_image* to, const float matrix[6], uint32_t filter,
                     const uint8_t fill[4], lathe_error* error);
  /* A part as an image of the same memory. `left` and `top` must be even where U and V are shared. */
  lathe_code (*crop)(const lathe_image* image, int32_t left, int32_t top, int32_t width, int32_t height,
                     lathe_image* part, lathe_error* error);

  /* From an image of any format to a tensor of `width` x `height` pixels, in one pass. `view` NULL: the whole image,
   * bilinear. `placement` may be NULL. */
  lathe_code (*to_tensor)(const lathe_image* image, const lathe_view* view, const lathe_elements* elements,
                          int32_t width, int32_t height, void* tensor, size_t bytes, lathe_placement* placement,
                          lathe_error* error);
  /* Boxes of a tensor become boxes of its image, cut off at the borders. */
  void (*boxes_back)(const lathe_placement* placement, lathe_box* boxes, size_t count);
  void (*points_back)(const lathe_placement* placement, lathe_point* points, size_t count);

  /* Fills the model's input as its `preprocess:` says, without other inputs, and runs it. `part`: left, top, width and
   * height, instead of the deployment's crop; NULL: that. `placement` may be NULL. */
  lathe_code (*run_image)(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                          lathe_placement* placement, lathe_error* error);
  /* The same without the run, for models with several inputs. */
  lathe_code (*set_image)(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                          lathe_placement* placement, lathe_error* error);

  /* In place is fine. */
  void (*softmax)(const float* scores, size_t count, float* probabilities);
  /* The indices of the `k` largest scores, the largest first, equal ones by index; returns how many there are. */
  size_t (*top_k)(const float* scores, size_t count, size_t k, int32_t* indices);
  /* Non-maximum suppression: sorts boxes, the best first, and keeps those that overlap (intersection over union) no
   * better one of their label (`any_label`: of any) by more than `most`. Returns how many are kept. */
  size_t (*nms)(lathe_box* boxes, size_t count, float most, uint32_t any_label);
  /* Writes at most `room` boxes, the best ones, in pixels of the tensor; `found`: how many. */
  lathe_code (*yolo)(const lathe_yolo* model, const float* output, lathe_box* boxes, size_t room, size_t* found,
                     lathe_error* error);
  /* The same, from 0 to 1. `offsets`: 4 per candidate; `scores`: `classes` per candidate; `anchors`: 4 per candidate.
   */
  lathe_code (*ssd)(const lathe_ssd* model, const float* offsets, const float* scores, const float* anchors,
                    lathe_box* boxes, size_t room, size_t* found, lathe_error* error);
  /* The peak of each channel of heat maps, by a quarter of a cell towards the larger neighbour. `planes` 1: NCHW. */
  lathe_code (*keypoints)(const float* maps, int32_t width, int32_t height, int32_t channels, uint32_t planes,
                          lathe_point* points, lathe_error* error);
  /* Connectionist temporal classification; `scores`: probabilities, `classes` per step. */
  lathe_code (*ctc_greedy)(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t* labels,
                           size_t room, lathe_text* text, lathe_error* error);
  /* Beam search without a language model: at most LATHE_VISION_MAX_BEAMS beams and LATHE_VISION_MAX_LABELS labels. */
  lathe_code (*ctc_beam)(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t beams,
                         int32_t* labels, size_t room, lathe_text* text, lathe_error* error);
  /* Probabilities of a mask, bilinearly resized, become the alpha of an image of RGBA, BGRA or GRAY (which is
   * replaced). `low` and what is below it becomes 0, `high` and what is above it 255. */
  lathe_code (*mask_to_alpha)(const float* mask, int32_t width, int32_t height, float low, float high,
                              const lathe_image* image, lathe_error* error);
};

/* Of the library `lathe_vision`. */
const lathe_vision_api* lathe_vision_functions(void);

#ifdef __cplusplus
}
#endif

#endif /* LATHE_VISION_H_ */
