/* What streamed_step.h does with AVX-512: the patterns of rows by comparisons of whole vectors, and systems with few active columns, each
 * of one row, by code of their own for each number of columns: its loops are unrolled, and small matrices stay in registers. */
#define UNROLLED static inline __attribute__((always_inline))

/* Bit j says whether x[j] is a number, for `n` singles or doubles. */
TARGET static inline uint64_t NAME(known_singles)(const float *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j += 16) {
        const __mmask16 there = (__mmask16)(n - j < 16 ? (1 << (n - j)) - 1 : 0xffff);
        const __m512 cells = _mm512_maskz_loadu_ps(there, x + j);
        key |= (uint64_t)_mm512_mask_cmp_ps_mask(there, cells, cells, _CMP_ORD_Q) << j;
    }
    return key;
}

TARGET static inline uint64_t NAME(known_doubles)(const double *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j += 8) {
        const __mmask8 there = (__mmask8)(n - j < 8 ? (1 << (n - j)) - 1 : 0xff);
        const __m512d cells = _mm512_maskz_loadu_pd(there, x + j);
        key |= (uint64_t)_mm512_mask_cmp_pd_mask(there, cells, cells, _CMP_ORD_Q) << j;
    }
    return key;
}

/* The lanes of a product that are neither about to overflow nor to vanish. */
TARGET UNROLLED __mmask8 NAME(in_range)(__m512d product) {
    const __mmask8 above = _mm512_cmp_pd_mask(product, _mm512_set1_pd(1e-150), _CMP_GT_OQ);
    return _mm512_mask_cmp_pd_mask(above, product, _mm512_set1_pd(1e150), _CMP_LT_OQ);
}

/* Replace the other lanes by 1, and add their logarithms. */
TARGET UNROLLED void NAME(keep_in_range)(__m512d *product, double *logarithm) {
    const __mmask8 kept = NAME(in_range)(*product);
    if (kept == 0xff) return;
    for (int l = 0; l < LANES; l++)
        if (!(kept >> l & 1)) {
            *logarithm += log((*product)[l]);
            (*product)[l] = 1.0;
        }
}

#define LOWER(i, j) ((i) * ((i) + 1) / 2 + (j))
#define EITHER(i, j) ((i) < (j) ? LOWER(j, i) : LOWER(i, j))

/* `sweep_lanes` with a constant k and all pivots. */
TARGET UNROLLED int NAME(sweep_unrolled)(const int k, __m512d *S, __m512d *product, double *logarithm) {
    __mmask8 positive = 0xff;
#pragma GCC unroll 10
    for (int p = 0; p < k; p++) {
        __m512d v[UNROLLED_COLUMNS];
#pragma GCC unroll 10
        for (int j = 0; j < k; j++) v[j] = S[EITHER(j, p)];
        const __m512d inverse = 1.0 / v[p];
        positive &= _mm512_cmp_pd_mask(v[p], _mm512_setzero_pd(), _CMP_GT_OQ);
        *product *= v[p];
        if (p % 4 == 3) NAME(keep_in_range)(product, logarithm);
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) {
            const __m512d factor = v[i] * inverse;
#pragma GCC unroll 10
            for (int j = 0; j <= i; j++) {
                if (i != p && j != p) S[LOWER(i, j)] -= factor * v[j];
                else if (i != p) S[LOWER(i, j)] = factor;
                else S[LOWER(i, j)] = v[j] * inverse;
            }
        }
        S[LOWER(p, p)] = -inverse;
    }
    return positive == 0xff;
}

/* `solve_any` with a constant k, for LANES rows, the first of which is `row`, each with a pattern of its own. */
TARGET UNROLLED double NAME(solve_unrolled)(const int k, Batch *batch, int holes, const uint64_t *masks, int64_t row,
                                            const double *restrict from, double *restrict to) {
    const int64_t c = batch->c;
    const double *restrict A = holes ? batch->precision : batch->covariance;
    double *restrict sums = holes ? batch->by_holes : batch->by_observed;
    int32_t active[LANES][UNROLLED_COLUMNS];
    __m512d S[LOWER(UNROLLED_COLUMNS, 0)], x[UNROLLED_COLUMNS], product = _mm512_set1_pd(1.0), total = _mm512_setzero_pd();
    double(*numbers)[LANES] = (double(*)[LANES])batch->S, (*values)[LANES] = (double(*)[LANES])batch->rhs;
    for (int l = 0; l < LANES; l++) {
        uint64_t left = masks[l];
        const double *restrict of_row = from + (row + l) * c;
#pragma GCC unroll 10
        for (int i = 0; i < k; i++, left &= left - 1) {
            const int64_t at = __builtin_ctzll(left);
            const double *restrict line = A + at * c;
            active[l][i] = (int32_t)at;
            values[i][l] = of_row[at];
#pragma GCC unroll 10
            for (int j = 0; j <= i; j++) numbers[LOWER(i, j)][l] = line[active[l][j]];
        }
    }
#pragma GCC unroll 55
    for (int n = 0; n < LOWER(k, 0); n++) S[n] = _mm512_loadu_pd(numbers[n]);
#pragma GCC unroll 10
    for (int i = 0; i < k; i++) x[i] = _mm512_loadu_pd(values[i]);
    if (!NAME(sweep_unrolled)(k, S, &product, &batch->log_determinant)) return NAN;
    NAME(keep_in_range)(&product, &batch->log_determinant);
    product *= _mm512_loadu_pd(batch->product);
    NAME(keep_in_range)(&product, &batch->log_determinant);
    _mm512_storeu_pd(batch->product, product);
#pragma GCC unroll 55
    for (int n = 0; n < LOWER(k, 0); n++) _mm512_storeu_pd(numbers[n], S[n]);
#pragma GCC unroll 10
    for (int i = 0; i < k; i++) { /* the swept matrix is minus the inverse */
        __m512d value = _mm512_setzero_pd();
#pragma GCC unroll 10
        for (int j = 0; j < k; j++) value -= S[EITHER(i, j)] * x[j];
        total += value * x[i];
        _mm512_storeu_pd(values[i], holes ? -value : value);
    }
    for (int l = 0; l < LANES; l++) {
        double *restrict to_row = to + (row + l) * c;
#pragma GCC unroll 10
        for (int i = 0; i < k; i++) {
            double *restrict line = sums + active[l][i] * c;
            to_row[active[l][i]] = values[i][l];
#pragma GCC unroll 10
            for (int j = 0; j <= i; j++) line[active[l][j]] -= numbers[LOWER(i, j)][l];
        }
    }
    return _mm512_reduce_add_pd(total);
}
#undef LOWER
#undef EITHER
#undef UNROLLED

TARGET static double NAME(solve_few)(int k, Batch *batch, int holes, const uint64_t *masks, int64_t row, const double *from, double *to) {
    switch (k) {
    case 1: return NAME(solve_unrolled)(1, batch, holes, masks, row, from, to);
    case 2: return NAME(solve_unrolled)(2, batch, holes, masks, row, from, to);
    case 3: return NAME(solve_unrolled)(3, batch, holes, masks, row, from, to);
    case 4: return NAME(solve_unrolled)(4, batch, holes, masks, row, from, to);
    case 5: return NAME(solve_unrolled)(5, batch, holes, masks, row, from, to);
    case 6: return NAME(solve_unrolled)(6, batch, holes, masks, row, from, to);
    case 7: return NAME(solve_unrolled)(7, batch, holes, masks, row, from, to);
    case 8: return NAME(solve_unrolled)(8, batch, holes, masks, row, from, to);
    case 9: return NAME(solve_unrolled)(9, batch, holes, masks, row, from, to);
    default: return NAME(solve_unrolled)(UNROLLED_COLUMNS, batch, holes, masks, row, from, to);
    }
}
