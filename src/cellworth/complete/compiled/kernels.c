/* The compiled kernels: plain C without Python's headers, loaded by library.py, built by build.py.
 *
 * BLAS and LAPACK are SciPy's own, handed over as function pointers. No flag allows the compiler to reorder sums other
 * than those marked `omp simd reduction`, so one build on one machine always gives the same bits. On x86-64 each kernel is
 * compiled twice, for any processor and for those with AVX2 and FMA; library.py asks `cellworth_has_v3`. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum { STEP, START, LAND };
enum { SQUARED, LOGISTIC, SQUARED_HINGE, MULTINOMIAL };

#define SYRK_FROM 48      /* columns; as in solver/step.py */
#define CHUNK_CELLS 8192  /* of the new iterate that are formed at once: with the other arrays, well within L2 */

#define SWEEP_COLUMNS 128 /* of a pattern; from here on LAPACK inverts its matrix faster */

#define ABREAST 8         /* rows that go down a tree, or through a sum, side by side */
#define ROW_UNIT 8        /* numbers of single precision that a processor takes at once */
#define FEW_FEATURES 0.25 /* share of the features of a split */
#define SAME 1e-7         /* features of a node that differ by no more are one; as in extra_trees.py */
#define TIE 1e-9          /* of a node's squares: splits that gain within this are equal; as there */

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(name, SUFFIX)
#define TYPE(name) CONCAT(name, REAL)

#define REAL double
#include "proximal_types.h"
#undef REAL
#define REAL float
#include "proximal_types.h"
#undef REAL

typedef struct {
    void (*potrf)(char *, int *, double *, int *, int *);
    void (*potri)(char *, int *, double *, int *, int *);
} Lapack;

#define TARGET
#define REAL double
#define SUFFIX _f64
#include "proximal_pass.h"
#include "pattern_systems.h"
#include "streamed_step.h"
#include "labelled_step.h"
#include "extra_trees.h"
#include "class_trees.h"
#undef REAL
#undef SUFFIX
#define REAL float
#define SUFFIX _f32
#include "proximal_pass.h"
#include "hidden_cells.h"
#undef REAL
#undef SUFFIX
#undef TARGET

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma")))
#define REAL double
#define SUFFIX _f64_v3
#include "proximal_pass.h"
#include "pattern_systems.h"
#include "streamed_step.h"
#include "labelled_step.h"
#include "extra_trees.h"
#include "class_trees.h"
#undef REAL
#undef SUFFIX
#define REAL float
#define SUFFIX _f32_v3
#include "proximal_pass.h"
#include "hidden_cells.h"
#undef REAL
#undef SUFFIX

EXPORT int cellworth_has_v3(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
EXPORT int cellworth_has_v3(void) { return 0; }
#endif
