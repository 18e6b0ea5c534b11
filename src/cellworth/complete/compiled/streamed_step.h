/* The E step of a Gaussian on rows as they are read, for one kind of processor. See gaussian/streamed_step.py: nothing is laid
 * out before and nothing is kept, so rows can be read again in each iteration.
 *
 * A chunk of rows is sorted by its patterns of observed cells. Eight patterns with as many active columns are solved at once,
 * one in each lane, so that their small systems fill the processor's vectors. Active are the holes of a row (A is the precision)
 * or, if there are fewer of them, its observed cells (A is the covariance). */
#ifndef LANES
#define LANES 8
#define CHUNK_BYTES (1 << 19) /* of the residuals of a chunk: with the products, about what fits in L2 */
#define DIGIT 11              /* bits of the keys that a pass of the sort looks at */
#define MOST_COLUMNS 64       /* bits of a key */
#define OBSERVED_SIDE 65      /* first bucket of the rows that are solved from their observed cells */
#define UNROLLED_COLUMNS 10   /* of systems with code of their own */

typedef struct {
    int64_t c;
    const double *precision, *covariance;                             /* (c, c) */
    double *by_holes, *by_observed;                                   /* (c, c): sums of padded inverses */
    double log_determinant, product[LANES];                           /* the logarithm of the product is still to be added */
    double *S, *v, *rhs;                                              /* of a batch: a triangle, a column, right-hand sides */
} Batch;

/* Sort n row numbers by their buckets, and by their keys of `bits` bits within a bucket. Returns where they are: a or b. */
static int32_t *sort_rows(int64_t n, const uint64_t *keys, int64_t bits, const uint8_t *bucket, int32_t *a, int32_t *b) {
    int32_t counts[1 << DIGIT];
    const uint64_t digit = (1 << DIGIT) - 1;
    for (int64_t i = 0; i < n; i++) a[i] = (int32_t)i;
    for (int64_t shift = 0, last = 0; !last; shift += DIGIT) {
        last = shift >= bits;
        for (int64_t k = 0; k < 1 << DIGIT; k++) counts[k] = 0;
        for (int64_t i = 0; i < n; i++) counts[last ? bucket[i] : keys[i] >> shift & digit]++;
        for (int32_t k = 0, before = 0; k < 1 << DIGIT; k++) {
            const int32_t here = counts[k];
            counts[k] = before;
            before += here;
        }
        for (int64_t i = 0; i < n; i++) b[counts[last ? bucket[a[i]] : keys[a[i]] >> shift & digit]++] = a[i];
        int32_t *sorted = b;
        b = a;
        a = sorted;
    }
    return a;
}
#endif

/* Sweep the first `pivots` pivots of LANES symmetric positive definite matrices (k, k) at once, in place; all k leave minus the
 * inverse. S: lower triangles, row by row, lane by lane. Multiplies `product` by the pivots, and moves what grows too large to `logarithm`. Returns whether all pivots were positive. */
TARGET static int NAME(sweep_lanes)(double *restrict S, int64_t pivots, int64_t k, double *restrict v,
                                    double *restrict product, double *restrict logarithm) {
    double inverse[LANES], factor[LANES];
    int positive = 1;
    for (int64_t p = 0; p < pivots; p++) {
        for (int64_t j = 0; j < k; j++) {
            const double *from = S + (j < p ? p * (p + 1) / 2 + j : j * (j + 1) / 2 + p) * LANES;
#pragma omp simd
            for (int l = 0; l < LANES; l++) v[j * LANES + l] = from[l];
        }
        const double *pivot = v + p * LANES;
        for (int l = 0; l < LANES; l++) positive &= pivot[l] > 0;
#pragma omp simd
        for (int l = 0; l < LANES; l++) inverse[l] = 1.0 / pivot[l];
#pragma omp simd
        for (int l = 0; l < LANES; l++) product[l] *= pivot[l];
        if (p % 4 == 3)
            for (int l = 0; l < LANES; l++)
                if (!(product[l] > 1e-150 && product[l] < 1e150)) {
                    logarithm[l] += log(product[l]);
                    product[l] = 1.0;
                }
        for (int64_t i = 0; i < k; i++) {
            double *restrict row = S + i * (i + 1) / 2 * LANES;
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

/* Solve the rows of at most LANES patterns with k active columns. rows[l] .. rows[l + 1]: those of a pattern; from (n, c): right-hand
 * sides; to (n, c): gets the solutions in the active columns, for the holes minus these. Returns the sum of the products of solutions and
 * right-hand sides, or NaN if a system is not positive definite. */
TARGET static double NAME(solve_any)(Batch *batch, int holes, int64_t k, int n_patterns, const uint64_t *masks, const int64_t *rows,
                                       const double *restrict from, double *restrict to) {
    const int64_t c = batch->c;
    const double *restrict A = holes ? batch->precision : batch->covariance;
    double *restrict sums = holes ? batch->by_holes : batch->by_observed, *restrict S = batch->S, *restrict x = batch->rhs;
    const double sign = holes ? -1.0 : 1.0;
    int32_t active[LANES][MOST_COLUMNS];
    double quadratic = 0.0, product[LANES], logarithm[LANES] = {0}, single[LANES];
    for (int l = 0; l < LANES; l++) {
        uint64_t left = masks[l < n_patterns ? l : 0];
        for (int64_t i = 0; i < k; i++, left &= left - 1) active[l][i] = (int32_t)__builtin_ctzll(left);
        for (int64_t i = 0, at = l; i < k; i++) {
            const double *restrict row = A + active[l][i] * c;
            for (int64_t j = 0; j <= i; j++, at += LANES) S[at] = row[active[l][j]];
        }
        product[l] = 1.0;
        single[l] = l < n_patterns && rows[l + 1] - rows[l] == 1;
    }
    if (!NAME(sweep_lanes)(S, k, k, batch->v, product, logarithm)) return NAN;
    for (int l = 0; l < n_patterns; l++) {
        const int64_t count = rows[l + 1] - rows[l];
        batch->log_determinant += (double)count * logarithm[l];
        if (count > 1 || !(product[l] > 1e-150 && product[l] < 1e150)) batch->log_determinant += (double)count * log(product[l]);
        else batch->product[l] *= product[l];
        if (!(batch->product[l] > 1e-150 && batch->product[l] < 1e150)) {
            batch->log_determinant += log(batch->product[l]);
            batch->product[l] = 1.0;
        }
        for (int64_t i = 0, at = l; i < k; i++) { /* the swept matrix is minus the inverse */
            double *restrict row = sums + active[l][i] * c;
            for (int64_t j = 0; j <= i; j++, at += LANES) row[active[l][j]] -= (double)count * S[at];
        }
        for (int64_t r = rows[l] + (count == 1); r < rows[l + 1]; r++)
            for (int64_t i = 0; i < k; i++) {
                double value = 0.0;
                for (int64_t j = 0; j < k; j++)
                    value -= S[(j < i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i) * LANES + l] * from[r * c + active[l][j]];
                to[r * c + active[l][i]] = sign * value;
                quadratic += value * from[r * c + active[l][i]];
            }
    }
    for (int64_t i = 0; i < k; i++)
        for (int l = 0; l < LANES; l++) x[i * LANES + l] = single[l] != 0 ? from[rows[l] * c + active[l][i]] : 0.0;
    for (int64_t i = 0; i < k; i++) {
        double value[LANES] = {0};
        for (int64_t j = 0; j < k; j++) {
            const double *restrict at = S + (j < i ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i) * LANES;
#pragma omp simd
            for (int l = 0; l < LANES; l++) value[l] -= at[l] * x[j * LANES + l];
        }
        for (int l = 0; l < n_patterns; l++)
            if (single[l] != 0) {
                to[rows[l] * c + active[l][i]] = sign * value[l];
                quadratic += value[l] * x[i * LANES + l];
            }
    }
    return quadratic;
}

TARGET static double NAME(solve_batch)(Batch *batch, int holes, int64_t k, int n_patterns, const uint64_t *masks, const int64_t *rows,
                                       const double *from, double *to) {
#if VECTOR_BYTES == 64
    if (k <= UNROLLED_COLUMNS && n_patterns == LANES && rows[LANES] - rows[0] == LANES)
        return NAME(solve_few)((int)k, batch, holes, masks, rows[0], from, to);
#endif
    return NAME(solve_any)(batch, holes, k, n_patterns, masks, rows, from, to);
}

#if VECTOR_BYTES != 64
/* Bit j says whether x[j] is a number, for `n` singles or doubles. */
TARGET static inline uint64_t NAME(known_singles)(const float *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j++) key |= (uint64_t)(x[j] == x[j]) << j;
    return key;
}

TARGET static inline uint64_t NAME(known_doubles)(const double *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j++) key |= (uint64_t)(x[j] == x[j]) << j;
    return key;
}
#endif

/* Add the E step of n rows X (n, c), NaN in the holes, to the sums. A cell is (x - offset) / width, its residual that minus the
 * mean. X: floats if `single_precision`, else doubles. first (c,), second (c, c): of the completed residuals; by_holes, by_observed
 * (c, c): lower triangles of the padded inverses; totals: log-determinants of the systems, quadratic forms, observed cells, rows
 * solved from their holes. Returns 0; 1 without memory; 2 if a system is not positive definite. */
TARGET EXPORT int NAME(streamed_step)(const Blasdouble *blas, int64_t n, int64_t c, const void *X, int single_precision,
                                      const double *offset, const double *width, const double *mean, const double *precision,
                                      const double *covariance, double *by_holes, double *by_observed, double *first,
                                      double *second, double *totals) {
    int64_t most = CHUNK_BYTES / (8 * c);
    most = most > n ? n : most;
    double *R = malloc(sizeof(double) * (3 * most * c + LANES * (c * (c + 1) / 2 + 2 * c) + 3 * c));
    uint64_t *keys = malloc(most * (sizeof(uint64_t) + 2 * sizeof(int32_t) + 1));
    if (!R || !keys) {
        free(R);
        free(keys);
        return 1;
    }
    double *G = R + most * c, *T = G + most * c, *S = T + most * c, *unit = S + LANES * (c * (c + 1) / 2 + 2 * c);
    Batch batch = {c, precision, covariance, by_holes, by_observed, 0.0, {0}, S, S + LANES * c * (c + 1) / 2, 0};
    batch.rhs = batch.v + LANES * c;
    int32_t *a = (int32_t *)(keys + most), *b = a + most;
    uint8_t *bucket = (uint8_t *)(b + most);
    const uint64_t whole = c == 64 ? ~0ULL : (1ULL << c) - 1;
    int failed = 0;
    for (int l = 0; l < LANES; l++) batch.product[l] = 1.0;
    for (int64_t j = 0; j < c; j++) unit[j] = 1.0 / width[j];
    for (int64_t start = 0; start < n && !failed; start += most) {
        const int64_t m = n - start < most ? n - start : most;
        const float *singles = (const float *)X + start * c;
        const double *doubles = (const double *)X + start * c;
        for (int64_t i = 0; i < m; i++) {
            const uint64_t key = single_precision ? NAME(known_singles)(singles + i * c, c) : NAME(known_doubles)(doubles + i * c, c);
            const int known = __builtin_popcountll(key), open = (int)c - known;
            keys[i] = key;
            bucket[i] = (uint8_t)(open <= known ? open : OBSERVED_SIDE + known);
            totals[2] += known;
        }
        const int32_t *order = sort_rows(m, keys, c, bucket, a, b);
        int64_t n_holes = 0;
        for (int64_t s = 0; s < m; s++) {
            const int64_t i = order[s];
            double *restrict r = R + s * c;
            n_holes += bucket[i] < OBSERVED_SIDE;
            if (single_precision)
#pragma omp simd
                for (int64_t j = 0; j < c; j++) {
                    const double value = ((double)singles[i * c + j] - offset[j]) * unit[j] - mean[j];
                    r[j] = __builtin_isunordered(value, value) ? 0.0 : value;
                }
            else
#pragma omp simd
                for (int64_t j = 0; j < c; j++) {
                    const double value = (doubles[i * c + j] - offset[j]) * unit[j] - mean[j];
                    r[j] = __builtin_isunordered(value, value) ? 0.0 : value;
                }
        }
        totals[3] += (double)n_holes;
        NAME(multiply)(blas, n_holes, c, R, c, precision, G, c);
        double products = 0.0;
#pragma omp simd reduction(+ : products)
        for (int64_t i = 0; i < n_holes * c; i++) products += R[i] * G[i];
        totals[1] += products;
        for (int64_t i = n_holes * c; i < m * c; i++) G[i] = 0.0;
        for (int64_t s = 0; s < m && !failed;) {
            const uint8_t here = bucket[order[s]];
            const int holes = here < OBSERVED_SIDE;
            const int64_t k = holes ? here : here - OBSERVED_SIDE;
            int n_patterns = 0;
            int64_t rows[LANES + 1];
            uint64_t masks[LANES];
            while (s < m && n_patterns < LANES && bucket[order[s]] == here) {
                const uint64_t key = keys[order[s]];
                rows[n_patterns] = s;
                masks[n_patterns++] = holes ? ~key & whole : key;
                while (s < m && keys[order[s]] == key) s++;
            }
            for (int l = n_patterns; l <= LANES; l++) rows[l] = s;
            if (!k) continue;
            const double *from = holes ? G : R;
            const double found = NAME(solve_batch)(&batch, holes, k, n_patterns, masks, rows, from, holes ? R : G);
            failed = isnan(found) ? 2 : 0;
            totals[1] += holes ? -found : found;
        }
        if (n_holes < m && !failed) {
            NAME(multiply)(blas, m - n_holes, c, G + n_holes * c, c, covariance, T, c);
            for (int64_t s = n_holes; s < m; s++)
                for (uint64_t left = ~keys[order[s]] & whole; left; left &= left - 1) {
                    const int64_t j = __builtin_ctzll(left);
                    R[s * c + j] = T[(s - n_holes) * c + j];
                }
        }
        NAME(add_gram)(blas, m, c, R, second, NULL);
        for (int64_t s = 0; s < m; s++)
#pragma omp simd
            for (int64_t j = 0; j < c; j++) first[j] += R[s * c + j];
    }
    totals[0] += batch.log_determinant;
    for (int l = 0; l < LANES; l++) totals[0] += log(batch.product[l]);
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < i; j++) second[j * c + i] = second[i * c + j];
    free(R);
    free(keys);
    return failed;
}
