/* The compiled kernels: plain C without Python's headers, loaded by library.py, built by build.py.
 *
 * BLAS and LAPACK are SciPy's own, handed over as function pointers. No flag allows the compiler to reorder sums other
 * than those marked `omp simd reduction`, so one build on one machine always gives the same bits. On x86-64 each kernel is
 * compiled three times, for any processor, for those with AVX2 and FMA (v3), and for those with AVX-512 (v4): library.py asks for the
 * level of this one. build.py compiles each LEVEL_ALONE (0, 3 or 4), all at once; without that, this file has them all. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum { STEP, START, LAND };
enum { SQUARED, LOGISTIC, SQUARED_HINGE, MULTINOMIAL };

#define SYRK_FROM 48      /* columns; as in solver/step.py */
#define TILED_COLUMNS 256 /* of products that are not left to BLAS */
#define WIDE 3            /* vectors of a tile of such a product */
#define CACHE_LINE 64     /* bytes */
#define CHUNK_CELLS 8192  /* of the new iterate that are formed at once: with the other arrays, well within L2 */

#define LAPACK_COLUMNS 128 /* of a pattern, from which on LAPACK inverts its matrix alone: a batch would not stay in cache */

#define ABREAST 8         /* rows that go down a tree, or through a sum, side by side */
#define ROW_UNIT 8        /* numbers of single precision that a processor takes at once */
#define VECTORS 4         /* of features that a pass over a node's rows takes */
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

/* Up to four arrays of which some rows are needed soon: a product computes more than it reads, and fetches them on its way. */
typedef struct {
    const void *from[4]; /* NULL: none */
    int64_t bytes[4];    /* of a row */
} Soon;

/* Always inlined: the compiler takes a function that does nothing but this for one without effect. */
static inline __attribute__((always_inline)) void fetch_rows(const Soon *soon, int64_t row, int64_t rows) {
    for (int i = 0; soon && i < 4; i++)
        for (int64_t at = row * soon->bytes[i]; soon->from[i] && at < (row + rows) * soon->bytes[i]; at += CACHE_LINE)
            __builtin_prefetch((const char *)soon->from[i] + at);
}

typedef struct {
    void (*potrf)(char *, int *, double *, int *, int *);
    void (*potri)(char *, int *, double *, int *, int *);
} Lapack;

#if !defined(LEVEL_ALONE) || LEVEL_ALONE == 0
#define TARGET
#define LEVEL
#define VECTOR_BYTES 16
#define OWN_PRODUCTS 0
#include "processor_level.h"
#endif

#if defined(__x86_64__) && (!defined(LEVEL_ALONE) || LEVEL_ALONE == 3)
#define TARGET __attribute__((target("avx2,fma")))
#define LEVEL _v3
#define VECTOR_BYTES 32
#define OWN_PRODUCTS 1
#include "processor_level.h"
#endif

#if defined(__x86_64__) && (!defined(LEVEL_ALONE) || LEVEL_ALONE == 4)
#define TARGET __attribute__((target("avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")))
#define LEVEL _v4
#define VECTOR_BYTES 64
#define OWN_PRODUCTS 1
#include "processor_level.h"
#endif

#if !defined(LEVEL_ALONE) || LEVEL_ALONE == 0
/* The highest level that this processor has: 4, 3, or 0 for code that runs on any. */
EXPORT int cellworth_level(void) {
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl")
               ? 4
               : 3;
#else
    return 0;
#endif
}
#endif
