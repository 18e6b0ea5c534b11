/* All kernels for one kind of processor: TARGET is what their code may use, LEVEL the end of their names, VECTOR_BYTES the size of
 * its vectors, OWN_PRODUCTS whether row_products.h or BLAS multiplies. */
#define REAL double
#define SUFFIX CONCAT(_f64, LEVEL)
#include "row_products.h"
#include "proximal_pass.h"
#include "table_cells.h"
#include "ridge_systems.h"
#include "tiled_triangles.h"
#include "pattern_systems.h"
#include "chunk_of_rows.h"
#include "streamed_step.h"
#include "labelled_step.h"
#include "extra_trees.h"
#include "class_trees.h"
#undef REAL
#undef SUFFIX
#define REAL float
#define SUFFIX CONCAT(_f32, LEVEL)
#include "row_products.h"
#include "proximal_pass.h"
#include "table_cells.h"
#include "hidden_cells.h"
#undef REAL
#undef SUFFIX
#undef TARGET
#undef LEVEL
#undef VECTOR_BYTES
#undef OWN_PRODUCTS
