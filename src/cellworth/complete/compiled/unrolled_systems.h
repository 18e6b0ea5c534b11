/* Systems with few active columns, each of one row, with AVX-512: code of their own for each number of columns, whose loops are
 * unrolled, and small matrices stay in registers. See streamed_step.h. */
#define UNROLLED static inline __attribute__((always_inline))

#if SINGLE
#define COMPARED(a, how, b) ((int)_mm512_cmp_ps_mask((__m512)(a), _mm512_set1_ps(b), how)) /* a bit for each lane */
#else
#define COMPARED(a, how, b) ((int)_mm512_cmp_pd_mask((__m512d)(a), _mm512_set1_pd(b), how))
#endif
#define ALL_LANES ((1 << LANES) - 1)
#define AT(numbers) (*(NAME(Vector) *)(numbers))

/* Replace the lanes of a product that are about to overflow or vanish by 1, and add their logarithms. */
TARGET UNROLLED void NAME(keep_in_range)(NAME(Vector) * product, double *logarithm) {
    const int kept = COMPARED(*product, _CMP_GT_OQ, 1 / MOST_PRODUCT) & COMPARED(*product, _CMP_LT_OQ, MOST_PRODUCT);
    if (kept == ALL_LANES) return;
    for (int l = 0; l < LANES; l++)
        if (!(kept >> l & 1)) {
            *logarithm += log((double)(*product)[l]);
            (*product)[l] = 1;
        }
}

#define LOWER(i, j) ((i) * ((i) + 1) / 2 + (j))
#define EITHER(i, j) ((i) < (j) ? LOWER(j, i) : LOWER(i, j))

/* `sweep_lanes` with a constant k and all pivots. */
TARGET UNROLLED int NAME(sweep_unrolled)(const int k, NAME(Vector) *S, NAME(Vector) *product, double *logarithm) {
    int positive = ALL_LANES;
#pragma GCC unroll 10
    for (int p = 0; p < k; p++) {
        NAME(Vector) v[UNROLLED_COLUMNS];
#pragma GCC unroll 10
        for (int j = 0; j < k; j++) v[j] = S[EITHER(j, p)];
        const NAME(Vector) inverse = 1 / v[p];
        positive &= COMPARED(v[p], _CMP_GT_OQ, 0);
        *product *= v[p];
        if (p % 4 == 3) NAME(keep_in_range)(product, logarithm);
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) {
            const NAME(Vector) factor = v[i] * inverse;
#pragma GCC unroll 10
            for (int j = 0; j <= i; j++) {
                if (i != p && j != p) S[LOWER(i, j)] -= factor * v[j];
                else if (i != p) S[LOWER(i, j)] = factor;
                else S[LOWER(i, j)] = v[j] * inverse;
            }
        }
        S[LOWER(p, p)] = -inverse;
    }
    return positive == ALL_LANES;
}

/* x = S^-1 x with a constant k, by elimination. Returns whether all pivots were positive. */
TARGET UNROLLED int NAME(eliminate_unrolled)(const int k, NAME(Vector) *S, NAME(Vector) *x) {
    int positive = ALL_LANES;
#pragma GCC unroll 10
    for (int p = 0; p < k; p++) {
        const NAME(Vector) inverse = 1 / S[LOWER(p, p)];
        positive &= COMPARED(S[LOWER(p, p)], _CMP_GT_OQ, 0);
#pragma GCC unroll 10
        for (int i = p + 1; i < k; i++) {
            const NAME(Vector) factor = S[LOWER(i, p)] * inverse;
#pragma GCC unroll 10
            for (int j = p + 1; j <= i; j++) S[LOWER(i, j)] -= factor * S[LOWER(j, p)];
            x[i] -= factor * x[p];
        }
        S[LOWER(p, p)] = inverse;
    }
#pragma GCC unroll 10
    for (int p = k - 1; p >= 0; p--) {
#pragma GCC unroll 10
        for (int i = p + 1; i < k; i++) x[p] -= S[LOWER(i, p)] * x[i];
        x[p] *= S[LOWER(p, p)];
    }
    return positive == ALL_LANES;
}

typedef struct {
    REAL numbers[LOWER(UNROLLED_COLUMNS, 0)][LANES]; /* triangles, lane by lane */
    REAL values[UNROLLED_COLUMNS][LANES];            /* right-hand sides, then solutions */
    int32_t active[LANES][UNROLLED_COLUMNS];
    int64_t row[LANES];
    int n; /* rows, at most LANES */
} __attribute__((aligned(64))) NAME(Systems);

/* Take the systems of the first n of some rows, each with k active columns. */
TARGET UNROLLED void NAME(take_systems)(const int k, const NAME(Batch) *batch, int holes, int64_t n, const int32_t *rows, const uint64_t *keys,
                                        uint64_t flip, const REAL *restrict from, NAME(Systems) *restrict to) {
    const int64_t c = batch->c;
    const REAL *restrict A = holes ? batch->precision : batch->covariance;
    to->n = n < LANES ? (int)n : LANES;
    for (int l = 0; l < to->n; l++) {
        uint64_t left = keys[rows[l]] ^ flip;
        const REAL *restrict of_row = from + rows[l] * c;
        int64_t at[UNROLLED_COLUMNS];
        to->row[l] = rows[l];
#pragma GCC unroll 10
        for (int i = 0; i < k; i++, left &= left - 1) {
            at[i] = __builtin_ctzll(left);
            const REAL *restrict line = A + at[i] * c;
            to->active[l][i] = (int32_t)at[i];
            to->values[i][l] = of_row[at[i]];
#pragma GCC unroll 10
            for (int j = 0; j <= i; j++) to->numbers[LOWER(i, j)][l] = line[at[j]];
        }
    }
    for (int l = to->n; l < LANES; l++) /* lanes without a row: the identity */
        for (int i = 0; i < k; i++) {
            to->values[i][l] = 0;
            for (int j = 0; j <= i; j++) to->numbers[LOWER(i, j)][l] = i == j;
        }
}

/* Solve systems with k active columns; `inverses`: add these to their sums, too. Returns whether all are positive definite. */
TARGET UNROLLED int NAME(solve_systems)(const int k, const int inverses, NAME(Batch) *batch, int holes, NAME(Systems) *restrict given,
                                        REAL *restrict to) {
    const int64_t c = batch->c;
    double *restrict sums = holes ? batch->by_holes : batch->by_observed;
    NAME(Vector) S[LOWER(UNROLLED_COLUMNS, 0)], x[UNROLLED_COLUMNS];
#pragma GCC unroll 55
    for (int e = 0; e < LOWER(k, 0); e++) S[e] = AT(given->numbers[e]);
#pragma GCC unroll 10
    for (int i = 0; i < k; i++) x[i] = AT(given->values[i]);
    if (inverses) {
        NAME(Vector) product = 1 - (NAME(Vector)){0};
        if (!NAME(sweep_unrolled)(k, S, &product, &batch->log_determinant)) return 0;
        NAME(keep_in_range)(&product, &batch->log_determinant);
        product *= AT(batch->product);
        NAME(keep_in_range)(&product, &batch->log_determinant);
        AT(batch->product) = product;
#pragma GCC unroll 55
        for (int e = 0; e < LOWER(k, 0); e++) AT(given->numbers[e]) = S[e];
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) { /* the swept matrix is minus the inverse */
            NAME(Vector) value = {0};
#pragma GCC unroll 10
            for (int j = 0; j < k; j++) value -= S[EITHER(i, j)] * x[j];
            AT(given->values[i]) = holes ? -value : value;
        }
    } else {
        if (!NAME(eliminate_unrolled)(k, S, x)) return 0;
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) AT(given->values[i]) = holes ? -x[i] : x[i];
    }
    for (int l = 0; l < given->n; l++) {
        REAL *restrict to_row = to + given->row[l] * c;
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) {
            double *restrict line = sums + given->active[l][i] * c;
            to_row[given->active[l][i]] = given->values[i][l];
#pragma GCC unroll 10
            for (int j = 0; inverses && j <= i; j++) line[given->active[l][j]] -= (double)given->numbers[LOWER(i, j)][l];
        }
    }
    return 1;
}

/* Solve n rows with k active columns each, LANES at a time. The next systems are taken before the last ones are solved: a vector that was
 * written number by number cannot be read at once, and the divisions of one system leave the processor time for another. */
TARGET UNROLLED int NAME(solve_unrolled)(const int k, const int inverses, NAME(Batch) *batch, int holes, int64_t n, const int32_t *rows,
                                         const uint64_t *keys, uint64_t flip, const REAL *from, REAL *to) {
    NAME(Systems) systems[2];
    NAME(take_systems)(k, batch, holes, n, rows, keys, flip, from, systems);
    for (int64_t first = 0, here = 0; first < n; first += LANES, here ^= 1) {
        const int64_t next = first + LANES;
        if (next < n) NAME(take_systems)(k, batch, holes, n - next, rows + next, keys, flip, from, systems + (here ^ 1));
        if (!NAME(solve_systems)(k, inverses, batch, holes, systems + here, to)) return 0;
    }
    return 1;
}
#undef COMPARED
#undef ALL_LANES
#undef AT
#undef LOWER
#undef EITHER
#undef UNROLLED

#define SOLVE(k) \
    (batch->by_holes ? NAME(solve_unrolled)(k, 1, batch, holes, n, rows, keys, flip, from, to) \
                     : NAME(solve_unrolled)(k, 0, batch, holes, n, rows, keys, flip, from, to))
TARGET static int NAME(solve_few)(int k, NAME(Batch) *batch, int holes, int64_t n, const int32_t *rows, const uint64_t *keys, uint64_t flip,
                                  const REAL *from, REAL *to) {
    switch (k) {
    case 1: return SOLVE(1);
    case 2: return SOLVE(2);
    case 3: return SOLVE(3);
    case 4: return SOLVE(4);
    case 5: return SOLVE(5);
    case 6: return SOLVE(6);
    case 7: return SOLVE(7);
    case 8: return SOLVE(8);
    case 9: return SOLVE(9);
    default: return SOLVE(UNROLLED_COLUMNS);
    }
}
#undef SOLVE
