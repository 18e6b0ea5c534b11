/* The E step of a Gaussian on rows as they are read, for one kind of processor. See gaussian/streamed_step.py: nothing is laid
 * out before and nothing is kept, so rows can be read again in each iteration.
 *
 * A chunk of rows is sorted by its patterns of observed cells. Eight patterns with as many active columns are solved at once,
 * one in each lane, so that their small systems fill the processor's vectors. Active are the holes of a row (A is the precision)
 * or, if there are fewer of them, its observed cells (A is the covariance). */
#ifndef UNROLLED_COLUMNS
#define UNROLLED_COLUMNS 10 /* of systems with code of their own */
#define ALIKE 3             /* rows of a pattern up to which each is a system of its own, where there is such code */
#endif

#if SINGLE
#define SUMMED_ROWS 512    /* in single precision, before the sums go on in double */
#define MOST_PRODUCT 1e12f /* of pivots; those of four more, each between 1/1000 and 1000, leave it a number */
#else
#define SUMMED_ROWS INT32_MAX
#define MOST_PRODUCT 1e150
#endif
#define IN_RANGE(product) ((product) > 1 / MOST_PRODUCT && (product) < MOST_PRODUCT)

typedef struct {
    int64_t c;
    const REAL *precision, *covariance;                               /* (c, c) */
    double *by_holes, *by_observed;                                   /* (c, c): sums of padded inverses; NULL: not wanted */
    double log_determinant;
    REAL product[64 / sizeof(REAL)];                                  /* the logarithm of the product is still to be added */
    REAL *S, *v, *rhs;                                                /* of a batch: a triangle, a column, right-hand sides */
} NAME(Batch);

/* Sweep the first `pivots` pivots of LANES symmetric positive definite matrices (k, k) at once, in place; all k leave minus the
 * inverse. S: lower triangles, row by row, lane by lane. Multiplies `product` by the pivots, and moves what grows too large to `logarithm`. Returns whether all pivots were positive. */
TARGET static int NAME(sweep_lanes)(REAL *restrict S, int64_t pivots, int64_t k, REAL *restrict v,
                                    REAL *restrict product, double *restrict logarithm) {
    REAL inverse[LANES], factor[LANES];
    int positive = 1;
    for (int64_t p = 0; p < pivots; p++) {
        for (int64_t j = 0; j < k; j++) {
            const REAL *from = S + (j < p ? p * (p + 1) / 2 + j : j * (j + 1) / 2 + p) * LANES;
#pragma omp simd
            for (int l = 0; l < LANES; l++) v[j * LANES + l] = from[l];
        }
        const REAL *pivot = v + p * LANES;
        for (int l = 0; l < LANES; l++) positive &= pivot[l] > 0;
#pragma omp simd
        for (int l = 0; l < LANES; l++) inverse[l] = 1 / pivot[l];
#pragma omp simd
        for (int l = 0; l < LANES; l++) product[l] *= pivot[l];
        if (p % 4 == 3)
            for (int l = 0; l < LANES; l++)
                if (!IN_RANGE(product[l])) {
                    logarithm[l] += log(product[l]);
                    product[l] = 1;
                }
        for (int64_t i = 0; i < k; i++) {
            REAL *restrict row = S + i * (i + 1) / 2 * LANES;
#pragma omp simd
            for (int l = 0; l < LANES; l++) factor[l] = v[i * LANES + l] * inverse[l];
            if (i == p) {
                for (int64_t j = 0; j < p; j++)
#pragma omp simd
                    for (int l = 0; l < LANES; l++) row[j * LANES + l] = v[j * LANES + l] * inverse[l];
#pragma omp simd
                for (int l = 0; l < LANES; l++) row[p * LANES + l] = -inverse[l];
                continue;
            }
            for (int64_t j = 0; j <= i; j++)
#pragma omp simd
                for (int l = 0; l < LANES; l++) row[j * LANES + l] -= factor[l] * v[j * LANES + l];
            if (p < i)
#pragma omp simd
                for (int l = 0; l < LANES; l++) row[p * LANES + l] = factor[l];
        }
    }
    return positive;
}

#if VECTOR_BYTES == 64
#include "unrolled_systems.h"
#endif

/* Count the determinants of the systems of a batch, of end[l] - begin[l] rows each, and add their inverses to the sums. */
TARGET static void NAME(add_inverses)(NAME(Batch) *batch, int holes, int64_t k, int n_patterns, const int64_t *begin, const int64_t *end,
                                      const int32_t (*active)[MOST_COLUMNS], const REAL *product, const double *logarithm) {
    double *restrict sums = holes ? batch->by_holes : batch->by_observed;
    for (int l = 0; l < n_patterns; l++) {
        const double count = (double)(end[l] - begin[l]);
        batch->log_determinant += count * logarithm[l];
        if (count > 1 || !IN_RANGE(product[l])) batch->log_determinant += count * log((double)product[l]);
        else batch->product[l] *= product[l];
        if (!IN_RANGE(batch->product[l])) {
            batch->log_determinant += log((double)batch->product[l]);
            batch->product[l] = 1;
        }
        for (int64_t i = 0, at = l; i < k; i++) { /* the swept matrix is minus the inverse */
            double *restrict row = sums + active[l][i] * batch->c;
            for (int64_t j = 0; j <= i; j++, at += LANES) row[active[l][j]] -= count * (double)batch->S[at];
        }
    }
}

/* Solve the rows of at most LANES patterns with k active columns. begin[l] .. end[l]: those of a pattern; from (n, c): right-hand
 * sides; to (n, c): gets the solutions in the active columns, for the holes minus these. Returns whether all systems are positive
 * definite. */
TARGET static int NAME(solve_any)(NAME(Batch) *batch, int holes, int64_t k, int n_patterns, const uint64_t *masks, const int64_t *begin,
                                  const int64_t *end, const REAL *restrict from, REAL *restrict to) {
    const int64_t c = batch->c;
    const REAL *restrict A = holes ? batch->precision : batch->covariance;
    REAL *restrict S = batch->S, *restrict x = batch->rhs;
    const REAL sign = holes ? -1 : 1;
    int32_t active[LANES][MOST_COLUMNS];
    REAL product[LANES], single[LANES];
    double logarithm[LANES] = {0};
    for (int l = 0; l < LANES; l++) {
        uint64_t left = masks[l < n_patterns ? l : 0];
        for (int64_t i = 0; i < k; i++, left &= left - 1) active[l][i] = (int32_t)__builtin_ctzll(left);
        for (int64_t i = 0, at = l; i < k; i++) {
            const REAL *restrict row = A + active[l][i] * c;
            for (int64_t j = 0; j <= i; j++, at += LANES) S[at] = row[active[l][j]];
        }
        product[l] = 1;
        single[l] = l < n_patterns && end[l] - begin[l] == 1;
    }
    if (!NAME(sweep_lanes)(S, k, k, batch->v, product, logarithm)) return 0;
    if (batch->by_holes) NAME(add_inverses)(batch, holes, k, n_patterns, begin, end, active, product, logarithm);
    for (int l = 0; l < n_patterns; l++)
        for (int64_t r = begin[l] + (single[l] != 0); r < end[l]; r++)
            for (int64_t i = 0; i < k; i++) {
                REAL value = 0;
                for (int64_t j = 0; j < k; j++)
                    value -= S[(j < i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i) * LANES + l] * from[r * c + active[l][j]];
                to[r * c + active[l][i]] = sign * value;
            }
    for (int64_t i = 0; i < k; i++)
        for (int l = 0; l < LANES; l++) x[i * LANES + l] = single[l] != 0 ? from[begin[l] * c + active[l][i]] : 0;
    for (int64_t i = 0; i < k; i++) {
        REAL value[LANES] = {0};
        for (int64_t j = 0; j < k; j++) {
            const REAL *restrict at = S + (j < i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i) * LANES;
#pragma omp simd
            for (int l = 0; l < LANES; l++) value[l] -= at[l] * x[j * LANES + l];
        }
        for (int l = 0; l < n_patterns; l++)
            if (single[l] != 0) to[begin[l] * c + active[l][i]] = sign * value[l];
    }
    return 1;
}

/* Solve the rows `first` to `last`, with k active columns each; keys: of all rows, in their order; work: (last - first,). */
TARGET static int NAME(solve_bucket)(NAME(Batch) *batch, int holes, int64_t k, int64_t first, int64_t last, const uint64_t *keys,
                                     const REAL *from, REAL *to, int32_t *work) {
    const uint64_t flip = !holes ? 0 : batch->c == 64 ? ~0ULL : (1ULL << batch->c) - 1;
    int n_patterns = 0, n_few = 0;
    int64_t begin[LANES], end[LANES];
    uint64_t masks[LANES];
    for (int64_t s = first, next; s < last; s = next) {
        for (next = s + 1; next < last && keys[next] == keys[s];) next++;
        if (VECTOR_BYTES == 64 && k <= UNROLLED_COLUMNS && next - s <= ALIKE) {
            for (int64_t r = s; r < next; r++) work[n_few++] = (int32_t)r;
            continue;
        }
        begin[n_patterns] = s;
        end[n_patterns] = next;
        masks[n_patterns++] = keys[s] ^ flip;
        if (n_patterns < LANES) continue;
        if (!NAME(solve_any)(batch, holes, k, LANES, masks, begin, end, from, to)) return 0;
        n_patterns = 0;
    }
    if (n_patterns && !NAME(solve_any)(batch, holes, k, n_patterns, masks, begin, end, from, to)) return 0;
#if VECTOR_BYTES == 64
    if (n_few) return NAME(solve_few)((int)k, batch, holes, n_few, work, keys, flip, from, to);
#endif
    return 1;
}

/* Add the E step of n rows of cells, c columns, to the sums. A cell is (x - offset) / width, its residual that minus the mean. first
 * (c,), second (c, c): of the completed residuals; by_holes, by_observed (c, c): lower triangles of the padded inverses, or both NULL;
 * totals: log-determinants of the systems, if there are sums of inverses, observed cells, rows solved from their holes. In single
 * precision, cells must be singles, and eigenvalues within 1/1000 and 1000. Returns 0; 1 without memory; 2 if a system is not positive
 * definite. */
TARGET EXPORT int NAME(streamed_step)(const TYPE(Blas) * blas, int64_t n, int64_t c, const Cells *cells, const double *offset,
                                      const double *width, const double *mean, const double *precision, const double *covariance,
                                      double *by_holes, double *by_observed, double *first, double *second, double *totals) {
    const int64_t most_rows = CHUNK_BYTES / ((int64_t)sizeof(REAL) * c), most = most_rows > n ? n : most_rows;
    REAL *R = malloc(sizeof(REAL) * (3 * most * c + LANES * (c * (c + 1) / 2 + 2 * c) + 3 * c * c));
    uint64_t *keys = malloc(most * (2 * sizeof(uint64_t) + 2 * sizeof(int32_t) + 1));
    if (!R || !keys) {
        free(R);
        free(keys);
        return 1;
    }
    REAL *G = R + most * c, *T = G + most * c, *S = T + most * c;
    REAL *v = S + LANES * c * (c + 1) / 2, *rhs = v + LANES * c, *P = rhs + LANES * c, *C = P + c * c, *part = C + c * c;
    NAME(Batch) batch = {c, P, C, by_holes, by_observed, 0.0, {0}, S, v, rhs};
    uint64_t *sorted = keys + most;
    int32_t *order = (int32_t *)(sorted + most), *spare = order + most, ends[N_BUCKETS];
    uint8_t *bucket = (uint8_t *)(spare + most);
    const int single = (int)cells->single_precision;
    const uint64_t whole = c == 64 ? ~0ULL : (1ULL << c) - 1;
    const NAME(Scale) scale = NAME(scale_of)(c, offset, width, mean);
    int failed = 0;
    for (int l = 0; l < LANES; l++) batch.product[l] = 1;
    for (int64_t j = 0; j < c * c; j++) {
        P[j] = (REAL)precision[j];
        C[j] = (REAL)covariance[j];
    }
    for (int64_t start = 0; start < n && !failed; start += most) {
        const int64_t m = n - start < most ? n - start : most, row_bytes = c * (single ? 4 : 8);
        const char *x = NAME(rows_at)(cells, start, m, T);
        totals[1] += (double)NAME(find_patterns)(single, m, c, x, keys, bucket);
        sort_rows(m, keys, bucket, order, ends, spare);
        const int64_t n_holes = ends[OBSERVED_SIDE - 1];
        totals[2] += (double)n_holes;
        for (int64_t s = 0; s < m; s++) {
            sorted[s] = keys[order[s]];
            if (s % TURNED_ROWS == 0 && start + most + s < n) NAME(fetch_ahead)(cells, start + most + s);
#if SINGLE
            NAME(residuals)(c, (const float *)(x + order[s] * row_bytes), sorted[s], &scale, R + s * c);
#else
            NAME(residuals)(single, c, x + order[s] * row_bytes, sorted[s], &scale, R + s * c);
#endif
        }
        NAME(multiply)(blas, n_holes, c, R, c, P, G, c);
        for (int64_t i = n_holes * c; i < m * c; i++) G[i] = 0;
        for (int64_t b = 1; b < N_BUCKETS && !failed; b++) { /* in the bucket 0 there is nothing to solve */
            const int holes = b < OBSERVED_SIDE;
            const int64_t k = holes ? b : b - OBSERVED_SIDE;
            if (k && ends[b - 1] < ends[b] &&
                !NAME(solve_bucket)(&batch, holes, k, ends[b - 1], ends[b], sorted, holes ? G : R, holes ? R : G, spare))
                failed = 2;
        }
        if (n_holes < m && !failed) {
            NAME(multiply)(blas, m - n_holes, c, G + n_holes * c, c, C, T, c);
            for (int64_t s = n_holes; s < m; s++)
                for (uint64_t left = ~sorted[s] & whole; left; left &= left - 1) {
                    const int64_t j = __builtin_ctzll(left);
                    R[s * c + j] = T[(s - n_holes) * c + j];
                }
        }
        for (int64_t s = 0; s < m; s += SUMMED_ROWS) {
            const int64_t some = m - s < SUMMED_ROWS ? m - s : SUMMED_ROWS;
            NAME(add_gram)(blas, some, c, R + s * c, second, part);
            NAME(add_rows)(some, c, R + s * c, first);
        }
    }
    totals[0] += batch.log_determinant;
    for (int l = 0; l < LANES; l++) totals[0] += log((double)batch.product[l]);
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < i; j++) second[j * c + i] = second[i * c + j];
    free(R);
    free(keys);
    return failed;
}
#undef MOST_PRODUCT
#undef SUMMED_ROWS
#undef IN_RANGE
