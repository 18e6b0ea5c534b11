/* The two products of a chunk of rows A (n, k), for one REAL type and one kind of processor: A P, and A^T A.
 *
 * BLAS packs both factors before it multiplies, which with few columns takes as long as the products themselves, and takes narrower
 * vectors than the processor has if it does not know it. Here a tile of the result stays in registers, and the factors are read where
 * they are. The last vector of a row begins so early that it ends with the row: what it overlaps is computed twice, to the same bits.
 * Without OWN_PRODUCTS, with too few columns for one or too many for the caches, BLAS multiplies. */
typedef REAL NAME(Vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));
enum { NAME(WIDTH) = VECTOR_BYTES / sizeof(REAL) };

#if OWN_PRODUCTS
#define TALL (VECTOR_BYTES / 8) /* rows of a tile: with WIDE vectors each, most of the registers */
#define UNROLLED static inline __attribute__((always_inline)) void

/* Add to a tile, `tall` rows by `wide` vectors: sum over k of a(k, i) times the vectors of row k of B, whose rows are `apart`. */
TARGET UNROLLED NAME(add_to_tile)(int tall, int wide, int64_t n, const REAL *a, int64_t next, int64_t down, const REAL *B, int64_t apart,
                                  int64_t last, NAME(Vector) (*tile)[WIDE]) {
    for (int64_t k = 0; k < n; k++) {
        NAME(Vector) line[WIDE];
#pragma GCC unroll 3
        for (int v = 0; v < wide; v++)
            line[v] = *(const NAME(Vector) *)(B + k * apart + (v == wide - 1 ? last : v * NAME(WIDTH)));
#pragma GCC unroll 8
        for (int i = 0; i < tall; i++)
#pragma GCC unroll 3
            for (int v = 0; v < wide; v++) tile[i][v] += a[k * next + i * down] * line[v];
    }
}

/* A tile of A P, for `tall` rows and `wide` vectors of columns, of which the last begins at `last`. */
TARGET UNROLLED NAME(product_tile)(int tall, int wide, int64_t k, int64_t d, int64_t last, const REAL *A, int64_t from, const REAL *P,
                                   REAL *out, int64_t to) {
    NAME(Vector) tile[TALL][WIDE] = {{{0}}};
    NAME(add_to_tile)(tall, wide, k, A, 1, from, P, d, last, tile);
#pragma GCC unroll 8
    for (int i = 0; i < tall; i++)
#pragma GCC unroll 3
        for (int v = 0; v < wide; v++) *(NAME(Vector) *)(out + i * to + (v == wide - 1 ? last : v * NAME(WIDTH))) = tile[i][v];
}

TARGET static void NAME(product_in_tiles)(int64_t n, int64_t k, int64_t d, const REAL *A, int64_t from, const REAL *P, REAL *out,
                                          int64_t to, const Soon *soon) {
    for (int64_t column = 0; column < d; column += WIDE * NAME(WIDTH), P += WIDE * NAME(WIDTH), out += WIDE * NAME(WIDTH)) {
        const int64_t left = d - column, last = left < WIDE * NAME(WIDTH) ? left - NAME(WIDTH) : (WIDE - 1) * NAME(WIDTH);
        const int64_t wide = last + NAME(WIDTH) == left ? (left + NAME(WIDTH) - 1) / NAME(WIDTH) : WIDE, tall = n < TALL ? 1 : TALL;
        for (int64_t row = 0; row < n; row += tall) {
            const int64_t at = row + tall <= n ? row : n - tall; /* the last rows, too, end with the chunk */
            const REAL *a = A + at * from;
            REAL *o = out + at * to;
            if (!column) fetch_rows(soon, row, tall);
            switch (wide + (tall == 1 ? WIDE : 0)) {
            case 1: NAME(product_tile)(TALL, 1, k, d, last, a, from, P, o, to); break;
            case 2: NAME(product_tile)(TALL, 2, k, d, last, a, from, P, o, to); break;
            case 3: NAME(product_tile)(TALL, 3, k, d, last, a, from, P, o, to); break;
            case 4: NAME(product_tile)(1, 1, k, d, last, a, from, P, o, to); break;
            case 5: NAME(product_tile)(1, 2, k, d, last, a, from, P, o, to); break;
            default: NAME(product_tile)(1, 3, k, d, last, a, from, P, o, to);
            }
        }
    }
}

/* A tile of A^T A: its rows from `row` on, of which those before `fresh` are there already, and vectors of columns from `column` on. */
TARGET UNROLLED NAME(gram_tile)(int tall, int wide, int64_t n, int64_t d, int64_t row, int64_t fresh, int64_t column, int64_t last,
                                const REAL *A, double *gram) {
    NAME(Vector) tile[TALL][WIDE] = {{{0}}};
    NAME(add_to_tile)(tall, wide, n, A + row, d, 1, A + column, d, last, tile);
#pragma GCC unroll 8
    for (int i = 0; i < tall; i++)
#pragma GCC unroll 3
        for (int v = 0; v < wide; v++) {
            const int64_t begin = v == wide - 1 ? last : v * NAME(WIDTH);
            REAL sums[NAME(WIDTH)];
            *(NAME(Vector) *)sums = tile[i][v];
            if (row + i < fresh) continue;
            for (int64_t j = v * NAME(WIDTH); j < begin + NAME(WIDTH); j++)
                gram[(row + i) * d + column + j] += (double)sums[j - begin];
        }
}

/* `tall` rows of A^T A, up to the diagonal and a little further. */
TARGET UNROLLED NAME(gram_rows)(int tall, int64_t n, int64_t d, int64_t row, int64_t fresh, const REAL *A, double *gram) {
    for (int64_t column = 0; column < row + tall; column += WIDE * NAME(WIDTH)) {
        const int64_t needed = (row + tall - column + NAME(WIDTH) - 1) / NAME(WIDTH), wide = needed < WIDE ? needed : WIDE;
        const int64_t room = d - column - NAME(WIDTH), last = (wide - 1) * NAME(WIDTH) < room ? (wide - 1) * NAME(WIDTH) : room;
        switch (wide) {
        case 1: NAME(gram_tile)(tall, 1, n, d, row, fresh, column, last, A, gram); break;
        case 2: NAME(gram_tile)(tall, 2, n, d, row, fresh, column, last, A, gram); break;
        default: NAME(gram_tile)(tall, 3, n, d, row, fresh, column, last, A, gram);
        }
    }
}

TARGET static void NAME(gram_in_tiles)(int64_t n, int64_t d, const REAL *A, double *gram) {
    for (int64_t row = 0; row < d; row += TALL) {
        const int64_t left = d - row;
        if (left > TALL / 2) NAME(gram_rows)(TALL, n, d, left < TALL ? d - TALL : row, row, A, gram);
        else NAME(gram_rows)(TALL / 2, n, d, d - TALL / 2, row, A, gram);
    }
}
#undef TALL
#undef UNROLLED
#endif

static inline int NAME(in_tiles)(int64_t d) {
#if OWN_PRODUCTS
    return d >= NAME(WIDTH) && d <= TILED_COLUMNS;
#else
    (void)d;
    return 0;
#endif
}

/* out = A P for the rows A (n, k), which are `from` numbers apart, and P (k, d); the rows of out are `to` apart. Rows that are needed
 * `soon` are fetched meanwhile; NULL: none. */
static void NAME(multiply_by)(const TYPE(Blas) * blas, int64_t n, int64_t k, int64_t d, const REAL *A, int64_t from, const REAL *P,
                              REAL *out, int64_t to, const Soon *soon) {
#if OWN_PRODUCTS
    if (NAME(in_tiles)(d)) {
        NAME(product_in_tiles)(n, k, d, A, from, P, out, to, soon);
        return;
    }
#endif
    (void)soon;
    int rows = (int)n, inner = (int)k, columns = (int)d, of_A = (int)from, of_out = (int)to;
    REAL one = 1, zero = 0;
    blas->gemm("N", "N", &columns, &rows, &inner, &one, (REAL *)P, &columns, (REAL *)A, &of_A, &zero, out, &of_out);
}

/* The same for a square P (d, d). */
static void NAME(multiply)(const TYPE(Blas) * blas, int64_t n, int64_t d, const REAL *A, int64_t from, const REAL *P, REAL *out,
                           int64_t to) {
    NAME(multiply_by)(blas, n, d, d, A, from, P, out, to, NULL);
}

/* gram += A^T A for the rows A (n, d), in the lower triangle at least, through part (d, d) where REAL is not double. */
static void NAME(add_gram)(const TYPE(Blas) * blas, int64_t n, int64_t d, const REAL *A, double *gram, REAL *part) {
#if OWN_PRODUCTS
    if (NAME(in_tiles)(d)) {
        NAME(gram_in_tiles)(n, d, A, gram);
        return;
    }
#endif
    int k = (int)n, m = (int)d;
    REAL one = 1, zero = 0;
    REAL *to = sizeof(REAL) == sizeof(double) ? (REAL *)gram : part;
    REAL *beta = sizeof(REAL) == sizeof(double) ? &one : &zero;
    if (d > SYRK_FROM)
        blas->syrk("U", "N", &m, &k, &one, (REAL *)A, &m, beta, to, &m);
    else
        blas->gemm("N", "T", &m, &m, &k, &one, (REAL *)A, &m, (REAL *)A, &m, beta, to, &m);
    if (sizeof(REAL) != sizeof(double))
        for (int64_t i = 0; i < d * d; i++) gram[i] += (double)part[i];
}
