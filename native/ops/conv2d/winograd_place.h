// Where the tiles of Winograd's convolutions lie.
#ifndef LATHE_OPS_CONV2D_WINOGRAD_PLACE_H_
#define LATHE_OPS_CONV2D_WINOGRAD_PLACE_H_

#include <stdint.h>

namespace lathe {
namespace {

struct TilePlace {
  int64_t batch;
  int64_t y;  // of the first output
  int64_t x;

  // `tiles` there are per image and axis, with `size` outputs along each.
  TilePlace(int64_t tile, const int64_t (&tiles)[2], int size) {
    const int64_t lines = tile / tiles[1];
    batch = lines / tiles[0];
    y = (lines - batch * tiles[0]) * size;
    x = (tile - lines * tiles[1]) * size;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_OPS_CONV2D_WINOGRAD_PLACE_H_
