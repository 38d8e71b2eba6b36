// What all kernels share. The program that is built is this text, then the unit's.
//
// Options that the runtime sets:
//   K            where tensors live unless told otherwise: i (images) or b (buffers); K0, K1, ... of single tensors
//   HALF         numbers are stored in 16 bits (of buffers; images know by themselves)
//   HALF_MATH    arithmetic in half precision
//   ROUND        images of halves get the nearest numbers, where the device itself would cut off what is left
//   ACTIVATION   what is done to results before they are stored
//   CHECK        reads and writes outside of tensors are counted
#ifdef HALF_MATH
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half real;
typedef half4 real4;
#define READ_IMAGE read_imageh
#define WRITE_IMAGE write_imageh
#define TO_REAL4 convert_half4
#else
typedef float real;
typedef float4 real4;
#define READ_IMAGE read_imagef
#define WRITE_IMAGE write_imagef
#define TO_REAL4
#endif
#ifdef ROUND
#undef WRITE_IMAGE
#define WRITE_IMAGE(image, at, value) write_imagef(image, at, nearest_halves(convert_float4(value)))
float4 nearest_halves(float4 value) {
  ushort bits[4];
  vstore_half4_rte(value, 0, (__private half *)bits);
  return vload_half4(0, (__private half *)bits);
}
#endif
#define TO_FLOAT4 convert_float4

#ifdef HALF
typedef half stored;
#define LOAD_FOUR(index, pointer) TO_REAL4(vload_half4(index, pointer))
#define STORE_FOUR(value, index, pointer) vstore_half4(TO_FLOAT4(value), index, pointer)
#else
typedef float stored;
#define LOAD_FOUR(index, pointer) TO_REAL4(vload4(index, pointer))
#define STORE_FOUR(value, index, pointer) vstore4(TO_FLOAT4(value), index, pointer)
#endif

#ifndef K0
#define K0 K
#endif
#ifndef K1
#define K1 K
#endif
#ifndef K2
#define K2 K
#endif
#ifndef K3
#define K3 K
#endif
#ifndef K4
#define K4 K
#endif
#ifndef K5
#define K5 K
#endif
#ifndef K6
#define K6 K
#endif
#ifndef K7
#define K7 K
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define HOME_(n) K##n
#define HOME(n) HOME_(n)

__constant sampler_t pixels_as_they_are = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

// Parameters of kernels. WORK comes first.
#define WORK CHECKED const int work_x, const int work_y, const int work_z
#define IN(n, name) JOIN(IN_, HOME(n))(name)
#define OUT(n, name) JOIN(OUT_, HOME(n))(name)
#define IN_i(name) __read_only image2d_t name
#define OUT_i(name) __write_only image2d_t name
#define IN_b(name) __global const stored *name, const int name##_width, const int name##_height
#define OUT_b(name) __global stored *name, const int name##_width, const int name##_height
#define IN_NUMBERS(name) __global const int *name
#define OUT_NUMBERS(name) __global int *name
#define ACTIVATION_ARGUMENTS const float activation_a, const float activation_b

// The place of a work item; those outside of the work end here.
#define BEGIN                                                                              \
  const int X = get_global_id(0), Y = get_global_id(1), Z = get_global_id(2);              \
  if (X >= work_x || Y >= work_y || Z >= work_z) return;

// Pixels. `left`: how many of the four lanes hold channels, four or more for all.
#define LOAD(n, name, x, y) JOIN(LOAD_, HOME(n))(name, (x), (y))
#define STORE(n, name, x, y, left, value) JOIN(STORE_, HOME(n))(name, (x), (y), keep_lanes((value), (left)))
#ifdef CHECK
#define CHECKED __global int *outside,
#define INSIDE_i(name, x, y) inside(outside, (x), (y), get_image_width(name), get_image_height(name))
#define INSIDE_b(name, x, y) inside(outside, (x), (y), name##_width, name##_height)
bool inside(__global int *outside, int x, int y, int width, int height) {
  const bool fits = x >= 0 && y >= 0 && x < width && y < height;
  if (!fits) atomic_inc(outside);
  return fits;
}
#define LOAD_i(name, x, y) \
  (INSIDE_i(name, x, y) ? READ_IMAGE(name, pixels_as_they_are, (int2)(x, y)) : (real4)(0))
#define LOAD_b(name, x, y) (INSIDE_b(name, x, y) ? LOAD_FOUR(mad24(y, name##_width, x), name) : (real4)(0))
#define STORE_i(name, x, y, value) \
  if (INSIDE_i(name, x, y)) WRITE_IMAGE(name, (int2)(x, y), value)
#define STORE_b(name, x, y, value) \
  if (INSIDE_b(name, x, y)) STORE_FOUR(value, mad24(y, name##_width, x), name)
#else
#define CHECKED
#define LOAD_i(name, x, y) READ_IMAGE(name, pixels_as_they_are, (int2)(x, y))
#define LOAD_b(name, x, y) LOAD_FOUR((y) * name##_width + (x), name)
#define STORE_i(name, x, y, value) WRITE_IMAGE(name, (int2)(x, y), value)
#define STORE_b(name, x, y, value) STORE_FOUR(value, (y) * name##_width + (x), name)
#endif

real4 keep_lanes(real4 value, int left) {
  if (left < 4) value.w = 0;
  if (left < 3) value.z = 0;
  if (left < 2) value.y = 0;
  return value;
}

real lane_of(real4 value, int lane) {
  return lane == 0 ? value.x : lane == 1 ? value.y : lane == 2 ? value.z : value.w;
}

float4 limited(float4 x, float low, float high) {  // hands on what is no number
  x = select(x, (float4)(high), x > high);
  return select(x, (float4)(low), x < low);
}

// The fused activation, in single precision whatever the arithmetic.
#ifdef ACTIVATION
float4 activated(float4 x, float a, float b) {
#if ACTIVATION == 1
  return select(x, (float4)(0), x < 0.0f);
#elif ACTIVATION == 2
  return limited(x, a, b);
#elif ACTIVATION == 3
  return 1.0f / (1.0f + exp(-x));
#elif ACTIVATION == 4
  return tanh(x);
#elif ACTIVATION == 5
  return select(x, a * x, x < 0.0f);
#elif ACTIVATION == 6
  return select(x, a * expm1(x), x < 0.0f);
#elif ACTIVATION == 7
  return limited(a * x + b, 0.0f, 1.0f);
#elif ACTIVATION == 8
  return x * limited(x / 6.0f + 0.5f, 0.0f, 1.0f);
#elif ACTIVATION == 9
  return x / (1.0f + exp(-x));
#else
  return x;
#endif
}
#define ACTIVATE(x) TO_REAL4(activated(TO_FLOAT4(x), activation_a, activation_b))
#endif
