// Each axis of y walks through x by steps of its own. The rows of y are up to four axes, which count as digits do:
// `size1` to `size3` are the inner ones. `*_row`, `*_column`, `*_channel` say where a step along an axis leads in x.
#define PARAMETERS                                                                                        \
  , const int size1, const int size2, const int size3, const int start_row, const int start_column,       \
      const int start_channel, const int a_row, const int a_column, const int a_channel, const int b_row, \
      const int b_column, const int b_channel, const int c_row, const int c_column, const int c_channel,  \
      const int d_row, const int d_column, const int d_channel, const int e_row, const int e_column,      \
      const int e_channel, const int f_row, const int f_column, const int f_channel
#define ALONG(axis) start_##axis + a* a_##axis + b* b_##axis + c* c_##axis + d* d_##axis + e* e_##axis + f* f_##axis
#define SOURCE                                                                \
  const int e = column, f = channel;                                          \
  const int d = row % size3, c = row / size3 % size2;                         \
  const int b = row / size3 / size2 % size1, a = row / size3 / size2 / size1; \
  row = ALONG(row);                                                           \
  column = ALONG(column);                                                     \
  channel = ALONG(channel);
#include "movement.cl"
