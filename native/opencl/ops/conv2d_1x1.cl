#include "tile.cl"
#ifdef ROWS
#include "row_product.cl"
#else
#include "product.cl"
#endif
