/* The systems of an E step, one for each pattern of active columns, for one kind of processor. See
 * gaussian/pattern_systems.py: A (c, c) restricted to the active columns of a pattern, its inverse, and its solutions. */

/* The length of a row of k numbers in whole vectors. */
static inline int64_t NAME(padded)(int64_t k) { return (k + NAME(WIDTH) - 1) / NAME(WIDTH) * NAME(WIDTH); }

/* Invert a block of PIVOTS pivots in place. Multiplies `product` by its determinant; returns whether all pivots were positive. */
TARGET static inline int NAME(invert_block)(double (*E)[PIVOTS], double *product) {
#pragma GCC unroll 4
    for (int p = 0; p < PIVOTS; p++) {
        if (!(E[p][p] > 0)) return 0;
        const double inverse = 1.0 / E[p][p];
        *product *= E[p][p];
        E[p][p] = 1.0;
#pragma GCC unroll 4
        for (int j = 0; j < PIVOTS; j++) E[p][j] *= inverse;
#pragma GCC unroll 4
        for (int i = 0; i < PIVOTS; i++) {
            if (i == p) continue;
            const double factor = E[i][p];
            E[i][p] = 0.0;
#pragma GCC unroll 4
            for (int j = 0; j < PIVOTS; j++) E[i][j] -= factor * E[p][j];
        }
    }
    return 1;
}

/* Columns p .. p + PIVOTS of a symmetric matrix (k, k) whose lower triangle is kept, as rows of v (PIVOTS, lead): 0 from k on. */
TARGET static inline void NAME(columns)(const double *restrict S, int64_t k, int64_t lead, int64_t p, double *restrict v) {
    const int64_t b = k - p < PIVOTS ? k - p : PIVOTS;
    for (int64_t t = 0; t < b; t++) {
        for (int64_t j = 0; j <= p + t; j++) v[t * lead + j] = S[(p + t) * lead + j];
        for (int64_t j = p + t + 1; j < p + b; j++) v[t * lead + j] = S[j * lead + p + t];
    }
    for (int64_t j = p + PIVOTS; j < k; j++)
#pragma GCC unroll 4
        for (int t = 0; t < PIVOTS; t++) v[t * lead + j] = S[j * lead + p + t];
    for (int64_t t = 0; t < PIVOTS; t++)
        for (int64_t j = t < b ? k : 0; j < lead; j++) v[t * lead + j] = 0.0;
}

/* Sweep all pivots of a symmetric positive definite matrix (k, k) with rows of `lead` numbers, in place, PIVOTS at a time so that a row
 * is read and written less often. Only the lower triangle is worked on; it gets minus the inverse. v: (2 PIVOTS, lead) work. Returns
 * the log-determinant, or NaN if a pivot is not positive. */
TARGET static double NAME(sweep)(double *restrict S, int64_t k, int64_t lead, double *restrict v) {
    double product = 1.0, log_determinant = 0.0, *restrict w = v + PIVOTS * lead;
    for (int64_t p = 0; p < k; p += PIVOTS) {
        const int64_t b = k - p < PIVOTS ? k - p : PIVOTS;
        double E[PIVOTS][PIVOTS];
        NAME(columns)(S, k, lead, p, v);
        for (int64_t t = 0; t < PIVOTS; t++)
            for (int64_t s = 0; s < PIVOTS; s++) E[t][s] = t < b && s < b ? v[t * lead + p + s] : t == s;
        if (!NAME(invert_block)(E, &product)) return NAN;
        if (product < 1e-150 || product > 1e150) {
            log_determinant += log(product);
            product = 1.0;
        }
#define AT(array, row) (*(NAME(Vector) *)((array) + (row) * lead + j))
        for (int64_t j = 0; j < lead; j += NAME(WIDTH)) {
            const NAME(Vector) v0 = AT(v, 0), v1 = AT(v, 1), v2 = AT(v, 2), v3 = AT(v, 3);
#pragma GCC unroll 4
            for (int t = 0; t < PIVOTS; t++) AT(w, t) = E[t][0] * v0 + E[t][1] * v1 + E[t][2] * v2 + E[t][3] * v3;
        }
        for (int64_t j = 0; j < lead; j += NAME(WIDTH)) { /* whole vectors; what is above the diagonal is not read */
            const NAME(Vector) v0 = AT(v, 0), v1 = AT(v, 1), v2 = AT(v, 2), v3 = AT(v, 3);
            for (int64_t i = j; i < k; i++)
                AT(S, i) = AT(S, i) - w[i] * v0 - w[lead + i] * v1 - w[2 * lead + i] * v2 - w[3 * lead + i] * v3;
        }
#undef AT
        for (int64_t i = p + b; i < k; i++) /* then b is PIVOTS */
#pragma GCC unroll 4
            for (int t = 0; t < PIVOTS; t++) S[i * lead + p + t] = w[t * lead + i];
        for (int64_t t = 0; t < b; t++) {
            for (int64_t j = 0; j < p; j++) S[(p + t) * lead + j] = w[t * lead + j];
            for (int64_t s = 0; s <= t; s++) S[(p + t) * lead + p + s] = -E[t][s];
        }
    }
    return log_determinant + log(product);
}

/* Invert a matrix as in `sweep`, from SWEEP_COLUMNS on by LAPACK's Cholesky factor: *sign times the inverse is below the diagonal. */
TARGET static double NAME(invert)(const Lapack *lapack, double *restrict S, int64_t k, int64_t lead, double *work, double *sign) {
    *sign = k < SWEEP_COLUMNS ? -1.0 : 1.0;
    if (k < SWEEP_COLUMNS) return NAME(sweep)(S, k, lead, work);
    double log_determinant = 0.0;
    int n = (int)k, ld = (int)lead, info = 0;
    lapack->potrf("U", &n, S, &ld, &info); /* "U" of LAPACK's columns is below the diagonal of our rows */
    if (info) return NAN;
    for (int64_t i = 0; i < k; i++) log_determinant += 2.0 * log(S[i * lead + i]);
    lapack->potri("U", &n, S, &ld, &info);
    return info ? NAN : log_determinant;
}

/* Add `count` times the inverse, `sign` times what is below the diagonal of S, to the columns `at` of `sum` (c, c), in the lower triangle;
 * and put the whole inverse into S, with 0 after its rows. */
TARGET static void NAME(add_inverse)(double *restrict S, int64_t k, int64_t lead, double sign, const int32_t *at, double count, int64_t c,
                                     double *restrict sum) {
    for (int64_t i = 0; i < k; i++) {
        double *restrict to = sum + at[i] * c;
        for (int64_t j = 0; j <= i; j++) {
            const double value = sign * S[i * lead + j];
            S[j * lead + i] = S[i * lead + j] = value;
            to[at[j]] += count * value;
        }
    }
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = k; j < lead; j++) S[i * lead + j] = 0.0;
}

/* Put A (c, c) on k active columns into the lower triangle of S; returns the length of a row there. */
static int64_t NAME(gather)(const double *A, int64_t c, const int32_t *active, int64_t k, double *S) {
    const int64_t lead = NAME(padded)(k);
    for (int64_t i = 0; i < k; i++) {
        const double *from = A + active[i] * c;
        for (int64_t j = 0; j <= i; j++) S[i * lead + j] = from[active[j]];
    }
    return lead;
}

/* For each of P patterns with the columns active[starts[p] : starts[p + 1]] and counts[p] rows: adds counts[p] times its padded
 * inverse to inverse_sum (c, c), and solves for the right-hand sides of its rows. rhs and solution: (n, c) with the same strides, in
 * numbers. Returns 0; 1 without memory; 2 if a system is not positive definite. */
TARGET EXPORT int NAME(solve_patterns)(const Lapack *lapack, int64_t P, int64_t c, const double *A, const int32_t *active,
                                       const int64_t *starts, const int64_t *counts, const double *rhs, double *solution,
                                       int64_t row_stride, int64_t column_stride, double *inverse_sum,
                                       double *log_determinant) {
    const int64_t widest = NAME(padded)(c);
    double *S = aligned_alloc(64, (sizeof(double) * (c + 2 * PIVOTS) * widest + 63) / 64 * 64);
    if (!S) return 1;
    double *x = S + c * widest, total = 0.0;
    for (int64_t p = 0, row = 0; p < P; p++) {
        const int32_t *at = active + starts[p];
        const int64_t k = starts[p + 1] - starts[p], lead = NAME(gather)(A, c, at, k, S);
        double sign, count = (double)counts[p], value = NAME(invert)(lapack, S, k, lead, x, &sign);
        if (isnan(value)) {
            free(S);
            return 2;
        }
        total += count * value;
        NAME(add_inverse)(S, k, lead, sign, at, count, c, inverse_sum);
        for (int64_t end = row + counts[p]; row < end; row++) {
            const double *from = rhs + row * row_stride;
            double *to = solution + row * row_stride;
            for (int64_t j = 0; j < lead; j++) x[j] = 0.0;
            for (int64_t i = 0; i < k; i++) {
                const double factor = from[at[i] * column_stride], *restrict line = S + i * lead;
#pragma omp simd
                for (int64_t j = 0; j < lead; j++) x[j] += factor * line[j];
            }
            for (int64_t j = 0; j < k; j++) to[at[j] * column_stride] = x[j];
        }
    }
    for (int64_t i = 0; i < c; i++) /* `at` ascends, so lower triangles were added to a lower triangle */
        for (int64_t j = 0; j < i; j++) inverse_sum[j * c + i] = inverse_sum[i * c + j];
    *log_determinant += total;
    free(S);
    return 0;
}

/* For each pattern a row of out (P, c): the diagonal of the inverse on its active columns (rest = 0), or that of what remains of A
 * on the others, A_bb - A_ba A_aa^-1 A_ab (rest = 1). 0 elsewhere. Returns as `solve_patterns`. */
TARGET EXPORT int NAME(pattern_diagonals)(const Lapack *lapack, int64_t P, int64_t c, const double *A, const int32_t *active,
                                          const int64_t *starts, int rest, double *out) {
    const int64_t widest = NAME(padded)(c);
    double *S = aligned_alloc(64, (sizeof(double) * (c + 2 * PIVOTS) * widest + 63) / 64 * 64);
    if (!S) return 1;
    double *across = S + c * widest;
    for (int64_t p = 0; p < P; p++, out += c) {
        const int32_t *at = active + starts[p];
        const int64_t k = starts[p + 1] - starts[p], lead = NAME(gather)(A, c, at, k, S);
        double sign;
        if (isnan(NAME(invert)(lapack, S, k, lead, across, &sign))) {
            free(S);
            return 2;
        }
        if (!rest) {
            for (int64_t j = 0; j < c; j++) out[j] = 0.0;
            for (int64_t i = 0; i < k; i++) out[at[i]] = sign * S[i * lead + i];
            continue;
        }
        for (int64_t j = 0; j < c; j++) out[j] = A[j * c + j];
        for (int64_t i = 0; i < k; i++) { /* sum over i, l of inverse_il A_ij A_lj for all columns j at once: twice that of l < i */
            for (int64_t j = 0; j < c; j++) across[j] = 0.0;
            for (int64_t l = 0; l <= i; l++) {
                const double factor = (l < i ? 2.0 : 1.0) * sign * S[i * lead + l], *restrict from = A + at[l] * c;
#pragma omp simd
                for (int64_t j = 0; j < c; j++) across[j] += factor * from[j];
            }
            const double *restrict from = A + at[i] * c;
#pragma omp simd
            for (int64_t j = 0; j < c; j++) out[j] -= across[j] * from[j];
        }
        for (int64_t j = 0; j < c; j++) {
            const double least = 2.220446049250313e-16 * A[j * c + j];
            out[j] = out[j] > least ? out[j] : least;
        }
        for (int64_t i = 0; i < k; i++) out[at[i]] = 0.0;
    }
    free(S);
    return 0;
}
