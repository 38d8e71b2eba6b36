// Sums of a tile: four pixels (0 to 3) times one block of channels (a) or, where BLOCKS is 2, two (a and b).
// In half precision at most 64 terms are added up before they go into sums of floats.
#define FOUR(M, s) M(s, 0) M(s, 1) M(s, 2) M(s, 3)
#if BLOCKS == 2
#define TILE(M) FOUR(M, a) FOUR(M, b)
#else
#define TILE(M) FOUR(M, a)
#endif
#ifdef HALF_MATH
#define SUMS int terms = 0; TILE(SUM)
#define SUM(s, p) float4 s##p = (float4)(0); real4 s##part##p = (real4)(0);
#define PART(s, p) s##part##p
#define FLUSH TILE(FLUSH_ONE)
#define FLUSH_ONE(s, p) s##p += TO_FLOAT4(s##part##p); s##part##p = (real4)(0);
#define COUNT_TERMS if (++terms == 16) { terms = 0; FLUSH }
#else
#define SUMS TILE(SUM)
#define SUM(s, p) real4 s##p = (real4)(0);
#define PART(s, p) s##p
#define FLUSH
#define COUNT_TERMS
#endif

// One block of input channels: pixels x0 to x3 times the four filter pixels that LOAD_FILTERS read.
#define LOAD_FILTERS(s, x, y)                                                                      \
  const real4 s##f0 = LOAD(1, filter, x, y), s##f1 = LOAD(1, filter, (x) + 1, y),                  \
              s##f2 = LOAD(1, filter, (x) + 2, y), s##f3 = LOAD(1, filter, (x) + 3, y);
#define MULTIPLY(s, p)                                  \
  PART(s, p) = mad((real4)(x##p.x), s##f0, PART(s, p)); \
  PART(s, p) = mad((real4)(x##p.y), s##f1, PART(s, p)); \
  PART(s, p) = mad((real4)(x##p.z), s##f2, PART(s, p)); \
  PART(s, p) = mad((real4)(x##p.w), s##f3, PART(s, p));

// A pixel, or zeros where it is not inside. Images have zeros around them.
#ifdef CHECK
#define LOAD_IF(n, name, inside, x, y) ((inside) ? LOAD(n, name, x, y) : (real4)(0))
#else
#define LOAD_IF(n, name, inside, x, y) JOIN(LOAD_IF_, HOME(n))(name, inside, x, y)
#define LOAD_IF_i(name, inside, x, y) LOAD_i(name, (inside) ? (x) : -1, y)
#define LOAD_IF_b(name, inside, x, y) ((inside) ? LOAD_b(name, x, y) : (real4)(0))
#endif
#define WITHIN(place, size) ((uint)(place) < (uint)(size))

// What comes behind the sum: ADDED inputs (bias, residual) and the activation.
#ifndef Y_AT
#define Y_AT 2
#define BIAS_AT 3
#define RESIDUAL_AT 4
#endif
#if ADDED > 0
#define ADDED_BIAS(block) +TO_FLOAT4(LOAD(BIAS_AT, bias, block, 0))
#else
#define ADDED_BIAS(block)
#endif
#if ADDED > 1
#define ADDED_ARGUMENTS , IN(BIAS_AT, bias), IN(RESIDUAL_AT, residual)
#define ADDED_RESIDUAL(px, py) +TO_FLOAT4(LOAD(RESIDUAL_AT, residual, px, py))
#else
#if ADDED > 0
#define ADDED_ARGUMENTS , IN(BIAS_AT, bias)
#else
#define ADDED_ARGUMENTS
#endif
#define ADDED_RESIDUAL(px, py)
#endif
#ifdef ACTIVATION
#define LAST_ARGUMENTS , ACTIVATION_ARGUMENTS
#define FINISHED(sum) activated(sum, activation_a, activation_b)
#else
#define LAST_ARGUMENTS
#define FINISHED(sum) (sum)
#endif
#define FINISH(sum, block, px, py)                             \
  STORE(Y_AT, y, px, py, channels - 4 * (block),               \
        TO_REAL4(FINISHED(sum ADDED_BIAS(block) ADDED_RESIDUAL(px, py))));
