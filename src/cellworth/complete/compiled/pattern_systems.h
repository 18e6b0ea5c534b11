/* The systems of an E step, one for each pattern of active columns, for one kind of processor. See gaussian/pattern_systems.py: A (c, c)
 * restricted to the active columns of a pattern, its inverse, and its solutions.
 *
 * Patterns come sorted by their number of active columns and are solved in batches, one in each lane; see tiled_triangles.h. The shorter
 * ones of a batch are filled up with the identity. */

/* A batch of patterns. S: its triangles; values: TILE rows of as many vectors as S has columns, or right-hand sides and solutions. */
typedef struct {
    int64_t c, widest, n; /* widest: columns of S, whole tiles; n: patterns in the batch */
    const double *A;
    const int32_t *active[NAME(WIDTH)];
    int64_t k[NAME(WIDTH)], *offset; /* offset (c + TILE,): of a column within a row of tiles, in vectors */
    NAME(Vector) *S, *values;
} NAME(PatternBatch);

/* Put the numbers at[0] .. at[n] of a row into a row of tiles of one lane. */
TARGET UNROLLED void NAME(gather_row)(const double *restrict from, const int32_t *restrict at, int64_t n, double *restrict to) {
    int64_t j = 0;
    for (; j + TILE <= n; j += TILE, to += TILED * NAME(WIDTH))
#pragma GCC unroll 4
        for (int b = 0; b < TILE; b++) to[b * NAME(WIDTH)] = from[at[j + b]];
    for (int b = 0; j + b < n; b++) to[b * NAME(WIDTH)] = from[at[j + b]];
}

/* The way back: add `count` times the numbers of a row of tiles. */
TARGET UNROLLED void NAME(add_row)(const double *restrict from, const int32_t *restrict at, int64_t n, double count, double *restrict to) {
    int64_t j = 0;
    for (; j + TILE <= n; j += TILE, from += TILED * NAME(WIDTH))
#pragma GCC unroll 4
        for (int b = 0; b < TILE; b++) to[at[j + b]] += count * from[b * NAME(WIDTH)];
    for (int b = 0; j + b < n; b++) to[at[j + b]] += count * from[b * NAME(WIDTH)];
}

/* Take the patterns p .. p + n with at most k active columns; S gets their matrices. Returns the rows of tiles. */
TARGET static int64_t NAME(take_patterns)(NAME(PatternBatch) *lanes, int64_t p, int64_t n, int64_t k, const int32_t *active,
                                          const int64_t *starts) {
    const int64_t tiles = (k + TILE - 1) / TILE;
    double *restrict to = (double *)lanes->S;
    lanes->n = n;
    for (int l = 0; l < NAME(WIDTH); l++) { /* lanes without a pattern get the first one */
        const int64_t q = l < n ? p + l : p;
        lanes->active[l] = active + starts[q];
        lanes->k[l] = starts[q + 1] - starts[q];
    }
    for (int64_t first = 0; first < tiles * TILE; first += TILE) /* lane by lane while these rows are in cache */
        for (int l = 0; l < NAME(WIDTH); l++)
            for (int64_t i = first; i < first + TILE; i++) {
                double *restrict row = to + NAME(row_at)(i) * NAME(WIDTH) + l;
                if (i < lanes->k[l]) NAME(gather_row)(lanes->A + lanes->active[l][i] * lanes->c, lanes->active[l], i + 1, row);
                else
                    for (int64_t j = 0; j <= i; j++) row[lanes->offset[j] * NAME(WIDTH)] = i == j;
            }
    return tiles;
}

/* Memory for patterns of at most k columns; 0 if there is none. */
TARGET static int NAME(make_lanes)(NAME(PatternBatch) *lanes, int64_t c, const double *A, int64_t k) {
    const int64_t tiles = (k + TILE - 1) / TILE, size = NAME(tile_at)(tiles, 0) + TILED * tiles + 2 * TILE;
    lanes->c = c;
    lanes->A = A;
    lanes->widest = tiles * TILE;
    lanes->S = aligned_alloc(64, (sizeof(NAME(Vector)) * size + 63) / 64 * 64);
    lanes->offset = malloc(sizeof(int64_t) * (lanes->widest + 1));
    if (!lanes->S || !lanes->offset) {
        free(lanes->S);
        free(lanes->offset);
        return 0;
    }
    lanes->values = lanes->S + NAME(tile_at)(tiles, 0);
    for (int64_t j = 0; j < lanes->widest; j++) lanes->offset[j] = j / TILE * TILED + j % TILE;
    return 1;
}

/* Add the inverses of a batch, each times its pattern's number of rows, to the lower triangle of `sum` (c, c). */
TARGET static void NAME(add_inverses_of)(const NAME(PatternBatch) *lanes, const int64_t *counts, double *restrict sum) {
    for (int64_t first = 0; first < lanes->widest; first += TILE) /* lane by lane while these rows are in cache */
        for (int64_t l = 0; l < lanes->n; l++)
            for (int64_t i = first; i < first + TILE && i < lanes->k[l]; i++) {
                const double *from = (const double *)lanes->S + NAME(row_at)(i) * NAME(WIDTH) + l;
                NAME(add_row)(from, lanes->active[l], i + 1, (double)counts[l], sum + lanes->active[l][i] * lanes->c);
            }
}

/* Solve for the rows of a batch, one of each pattern at a time. */
TARGET static void NAME(solve_rows_of)(const NAME(PatternBatch) *lanes, int64_t tiles, const int64_t *begin, const int64_t *counts,
                                       const double *restrict rhs, double *restrict solution, int64_t row_stride, int64_t column_stride) {
    NAME(Vector) *x = lanes->values, *y = x + tiles * TILE;
    double *restrict given = (double *)x, *restrict found = (double *)y;
    int64_t most = 0;
    for (int64_t l = 0; l < lanes->n; l++) most = counts[l] > most ? counts[l] : most;
    for (int64_t r = 0; r < most; r++) {
        for (int64_t i = 0; i < tiles * TILE; i++) x[i] = (NAME(Vector)){0};
        for (int64_t l = 0; l < lanes->n; l++) {
            const double *restrict from = rhs + (begin[l] + r) * row_stride;
            if (r < counts[l])
                for (int64_t i = 0; i < lanes->k[l]; i++) given[i * NAME(WIDTH) + l] = from[lanes->active[l][i] * column_stride];
        }
        NAME(times_symmetric)(lanes->S, tiles, x, y);
        for (int64_t l = 0; l < lanes->n; l++) {
            double *restrict to = solution + (begin[l] + r) * row_stride;
            if (r < counts[l])
                for (int64_t i = 0; i < lanes->k[l]; i++) to[lanes->active[l][i] * column_stride] = found[i * NAME(WIDTH) + l];
        }
    }
}

/* Put A (c, c) on k active columns into S (k, k) and replace it by its inverse by LAPACK, below the diagonal. Returns the
 * log-determinant, NaN if the matrix is not positive definite. */
static double NAME(invert_wide)(const Lapack *lapack, const double *A, int64_t c, const int32_t *at, int64_t k, double *S) {
    double log_determinant = 0.0;
    int n = (int)k, info = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) S[i * k + j] = A[at[i] * c + at[j]];
    lapack->potrf("U", &n, S, &n, &info); /* "U" of LAPACK's columns is below the diagonal of our rows */
    if (info) return NAN;
    for (int64_t i = 0; i < k; i++) log_determinant += 2.0 * log(S[i * k + i]);
    lapack->potri("U", &n, S, &n, &info);
    return info ? NAN : log_determinant;
}

/* For each of P patterns with the columns active[starts[p] : starts[p + 1]], fewest first, and counts[p] rows from begin[p] on: adds
 * counts[p] times its padded inverse to inverse_sum (c, c), and solves for the right-hand sides of its rows. rhs and solution: (n, c)
 * with the same strides, in numbers. Returns 0; 1 without memory; 2 if a system is not positive definite. */
TARGET EXPORT int NAME(solve_patterns)(const Lapack *lapack, int64_t P, int64_t c, const double *A, const int32_t *active,
                                       const int64_t *starts, const int64_t *begin, const int64_t *counts, const double *rhs,
                                       double *solution, int64_t row_stride, int64_t column_stride, double *inverse_sum,
                                       double *log_determinant) {
    NAME(PatternBatch) lanes;
    double total = 0.0, *S = NULL;
    int64_t p = 0;
    int failed = !NAME(make_lanes)(&lanes, c, A, c < LAPACK_COLUMNS ? c : LAPACK_COLUMNS);
    if (failed) return 1;
    for (int64_t n; p < P && starts[p + 1] - starts[p] < LAPACK_COLUMNS && !failed; p += n) {
        for (n = 1; n < NAME(WIDTH) && p + n < P && starts[p + n + 1] - starts[p + n] < LAPACK_COLUMNS;) n++;
        const int64_t tiles = NAME(take_patterns)(&lanes, p, n, starts[p + n] - starts[p + n - 1], active, starts);
        double logarithm[NAME(WIDTH)] = {0};
        if (!NAME(factor)(lanes.S, tiles, logarithm)) {
            failed = 2;
            break;
        }
        for (int64_t l = 0; l < n; l++) total += (double)counts[p + l] * logarithm[l];
        NAME(invert_factor)(lanes.S, tiles);
        NAME(square_factor)(lanes.S, tiles);
        NAME(add_inverses_of)(&lanes, counts + p, inverse_sum);
        NAME(solve_rows_of)(&lanes, tiles, begin + p, counts + p, rhs, solution, row_stride, column_stride);
    }
    if (p < P && !failed && !(S = malloc(sizeof(double) * c * c))) failed = 1;
    for (; p < P && !failed; p++) {
        const int32_t *restrict at = active + starts[p];
        const int64_t k = starts[p + 1] - starts[p];
        const double count = (double)counts[p], value = NAME(invert_wide)(lapack, A, c, at, k, S);
        if (isnan(value)) failed = 2;
        total += count * value;
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j <= i; j++) {
                S[j * k + i] = S[i * k + j];
                inverse_sum[at[i] * c + at[j]] += count * S[i * k + j];
            }
        for (int64_t r = begin[p]; r < begin[p] + counts[p]; r++)
            for (int64_t i = 0; i < k; i++) {
                double value_of = 0.0;
                for (int64_t j = 0; j < k; j++) value_of += S[i * k + j] * rhs[r * row_stride + at[j] * column_stride];
                solution[r * row_stride + at[i] * column_stride] = value_of;
            }
    }
    for (int64_t i = 0; i < c; i++) /* `at` ascends, so lower triangles were added to a lower triangle */
        for (int64_t j = 0; j < i; j++) inverse_sum[j * c + i] = inverse_sum[i * c + j];
    *log_determinant += total;
    free(S);
    free(lanes.S);
    free(lanes.offset);
    return failed;
}

/* The diagonals of A_bb - A_ba A_aa^-1 A_ab of a batch with Cholesky factors of A_aa, in the columns that are not active; `others` (c,):
 * work. */
TARGET static void NAME(remaining_of)(const NAME(PatternBatch) *lanes, int64_t tiles, int32_t (*others)[NAME(WIDTH)], const int64_t *row,
                                      double *out) {
    const int64_t c = lanes->c;
    int64_t m[NAME(WIDTH)], most = 0;
    NAME(Vector) *panel = lanes->values, tile[TILE][TILE];
    for (int l = 0; l < NAME(WIDTH); l++) {
        m[l] = 0;
        for (int64_t j = 0, i = 0; j < c; j++) {
            if (i < lanes->k[l] && lanes->active[l][i] == j) i++;
            else others[m[l]++][l] = (int32_t)j;
        }
        most = m[l] > most ? m[l] : most;
    }
    for (int64_t first = 0; first < most; first += TILE) {
        NAME(Vector) squares[TILE] = {{0}};
        double *restrict to = (double *)panel;
        for (int l = 0; l < NAME(WIDTH); l++)
            for (int64_t b = 0; b < TILE; b++) {
                const int64_t own = first + b < m[l] ? lanes->k[l] : 0;
                const double *restrict from = lanes->A + (own ? others[first + b][l] : 0) * c;
                double *restrict line = to + b * TILE * NAME(WIDTH) + l;
                NAME(gather_row)(from, lanes->active[l], own, line);
                for (int64_t j = own; j < tiles * TILE; j++) line[lanes->offset[j] * NAME(WIDTH)] = 0.0;
            }
        for (int64_t J = 0; J < tiles; J++) {
            NAME(load_tile)(panel + J * TILED, tile);
            for (int64_t t = 0; t < J; t++)
                NAME(add_product)(-1, panel + t * TILED, TILE, 1, lanes->S + NAME(tile_at)(J, t), TILE, 1, tile);
            NAME(times_inverse)(lanes->S + NAME(tile_at)(J, J), tile);
            NAME(store_tile)(tile, panel + J * TILED);
#pragma GCC unroll 16
            for (int e = 0; e < TILED; e++) squares[e / TILE] += tile[e / TILE][e % TILE] * tile[e / TILE][e % TILE];
        }
        for (int64_t l = 0; l < lanes->n; l++)
            for (int64_t b = 0; b < TILE && first + b < m[l]; b++) {
                const int64_t j = others[first + b][l];
                const double least = 2.220446049250313e-16 * lanes->A[j * c + j], rest = lanes->A[j * c + j] - squares[b][l];
                out[row[l] * c + j] = rest > least ? rest : least;
            }
    }
}

/* For each pattern p, fewest active columns first, the row row[p] of out (P, c), which is 0 before: the diagonal of the inverse on its
 * active columns (rest = 0), or that of what remains of A on the others, A_bb - A_ba A_aa^-1 A_ab (rest = 1). Returns as
 * `solve_patterns`. */
TARGET EXPORT int NAME(pattern_diagonals)(int64_t P, int64_t c, const double *A, const int32_t *active, const int64_t *starts,
                                          const int64_t *row, int rest, double *out) {
    NAME(PatternBatch) lanes;
    int32_t (*others)[NAME(WIDTH)] = malloc(sizeof(*others) * c);
    int failed = !others || !NAME(make_lanes)(&lanes, c, A, c);
    if (failed) {
        free(others);
        return 1;
    }
    for (int64_t p = 0; p < P && !failed; p += NAME(WIDTH)) {
        const int64_t n = P - p < NAME(WIDTH) ? P - p : NAME(WIDTH);
        const int64_t tiles = NAME(take_patterns)(&lanes, p, n, starts[p + n] - starts[p + n - 1], active, starts);
        double logarithm[NAME(WIDTH)] = {0};
        if (!NAME(factor)(lanes.S, tiles, logarithm)) failed = 2;
        else if (rest) NAME(remaining_of)(&lanes, tiles, others, row + p, out);
        else {
            NAME(invert_factor)(lanes.S, tiles);
            for (int64_t j = 0; j < tiles * TILE; j++) {
                NAME(Vector) sum = {0};
                for (int64_t i = j; i < tiles * TILE; i++) {
                    const NAME(Vector) value = lanes.S[NAME(row_at)(i) + lanes.offset[j]];
                    sum += value * value;
                }
                for (int64_t l = 0; l < n; l++)
                    if (j < lanes.k[l]) out[row[p + l] * c + lanes.active[l][j]] = sum[l];
            }
        }
    }
    free(others);
    free(lanes.S);
    free(lanes.offset);
    return failed;
}
#undef TILE
#undef TILED
#undef UNROLLED
