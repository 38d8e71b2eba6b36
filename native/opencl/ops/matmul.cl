#include "product.cl"
#include "row_product.cl"
