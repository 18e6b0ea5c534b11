/* The systems of an E step, one for each pattern of active columns, for one kind of processor. See
 * gaussian/pattern_systems.py: A (c, c) restricted to the active columns of a pattern, its inverse, and its solutions. */

/* Column p of a symmetric matrix whose lower triangle is kept, with 0 up to `lead`. */
static inline void NAME(column)(const double *restrict S, int64_t k, int64_t lead, int64_t p, double *restrict v) {
    for (int64_t j = 0; j < p; j++) v[j] = S[p * lead + j];
    for (int64_t j = p; j < k; j++) v[j] = S[j * lead + p];
    for (int64_t j = k; j < lead; j++) v[j] = 0.0;
}

/* Invert a symmetric positive definite matrix (k, k) with rows of `lead` numbers, in place, by sweeping its pivots, two at a time so
 * that each row is read and written half as often: only the lower triangle is worked on, and mirrored at the end. v: (2, lead) work.
 * Returns the log-determinant, or NaN if a pivot is not positive. */
TARGET static double NAME(sweep)(double *restrict S, int64_t k, int64_t lead, double *restrict v) {
    double product = 1.0, log_determinant = 0.0, *restrict w = v + lead;
    for (int64_t p = 0; p < k; p += 2) {
        const int two = p + 1 < k;
        NAME(column)(S, k, lead, p, v);
        const double inverse = 1.0 / v[p];
        if (!(v[p] > 0)) return NAN;
        product *= v[p];
        double across = 0.0, second = 0.0; /* column p + 1 after the first sweep is w, but for its own row p, `across` */
        if (two) {
            NAME(column)(S, k, lead, p + 1, w);
            across = v[p + 1] * inverse;
#pragma omp simd
            for (int64_t j = 0; j < lead; j++) w[j] -= across * v[j];
            if (!(w[p + 1] > 0)) return NAN;
            product *= w[p + 1];
            second = 1.0 / w[p + 1];
        } else {
            for (int64_t j = 0; j < lead; j++) w[j] = 0.0;
        }
        if (product < 1e-150 || product > 1e150) {
            log_determinant += log(product);
            product = 1.0;
        }
        for (int64_t i = 0; i < k; i++) {
            if (i == p || i == p + 1) continue;
            double *restrict row = S + i * lead;
            const double one = v[i] * inverse, other = w[i] * second;
            const int64_t end = (i + 4) / 4 * 4; /* whole vectors; what is above the diagonal is not read */
#pragma omp simd
            for (int64_t j = 0; j < end; j++) row[j] -= one * v[j] + other * w[j];
            if (p < i) row[p] = one - other * across;
            if (p < i && two) row[p + 1] = other;
        }
        for (int64_t j = 0; j < p; j++) S[p * lead + j] = v[j] * inverse - across * second * w[j];
        S[p * lead + p] = -inverse - across * second * across;
        if (!two) continue;
        for (int64_t j = 0; j < p; j++) S[(p + 1) * lead + j] = w[j] * second;
        S[(p + 1) * lead + p] = across * second;
        S[(p + 1) * lead + p + 1] = -second;
    }
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) S[j * lead + i] = S[i * lead + j] = -S[i * lead + j];
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = k; j < lead; j++) S[i * lead + j] = 0.0;
    return log_determinant + log(product);
}

/* The same by LAPACK's Cholesky factor: from SWEEP_COLUMNS on it is faster. */
TARGET static double NAME(invert)(const Lapack *lapack, double *S, int64_t k, int64_t lead, double *work) {
    if (k < SWEEP_COLUMNS) return NAME(sweep)(S, k, lead, work);
    int n = (int)k, ld = (int)lead, info = 0;
    double log_determinant = 0.0;
    lapack->potrf("L", &n, S, &ld, &info);
    if (info) return NAN;
    for (int64_t i = 0; i < k; i++) log_determinant += log(S[i * lead + i]);
    lapack->potri("L", &n, S, &ld, &info);
    if (info) return NAN;
    for (int64_t i = 0; i < k; i++) /* "L" of LAPACK's columns is above the diagonal of our rows */
        for (int64_t j = 0; j < i; j++) S[i * lead + j] = S[j * lead + i];
    return 2.0 * log_determinant;
}

static int64_t NAME(gather)(const double *A, int64_t c, const int32_t *active, int64_t k, double *S) {
    const int64_t lead = (k + 3) / 4 * 4;
    for (int64_t i = 0; i < k; i++) {
        const double *from = A + active[i] * c;
        for (int64_t j = 0; j < k; j++) S[i * lead + j] = from[active[j]];
        for (int64_t j = k; j < lead; j++) S[i * lead + j] = 0.0;
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
    const int64_t widest = (c + 3) / 4 * 4;
    double *S = malloc(sizeof(double) * (c + 2) * widest);
    if (!S) return 1;
    double *x = S + c * widest, total = 0.0;
    for (int64_t p = 0, row = 0; p < P; p++) {
        const int32_t *at = active + starts[p];
        const int64_t k = starts[p + 1] - starts[p], lead = NAME(gather)(A, c, at, k, S);
        const double value = NAME(invert)(lapack, S, k, lead, x), count = (double)counts[p];
        if (isnan(value)) {
            free(S);
            return 2;
        }
        total += count * value;
        for (int64_t i = 0; i < k; i++) {
            double *to = inverse_sum + at[i] * c;
            const double *from = S + i * lead;
            for (int64_t j = 0; j < k; j++) to[at[j]] += count * from[j];
        }
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
    *log_determinant += total;
    free(S);
    return 0;
}

/* For each pattern a row of out (P, c): the diagonal of the inverse on its active columns (rest = 0), or that of what remains of A
 * on the others, A_bb - A_ba A_aa^-1 A_ab (rest = 1). 0 elsewhere. Returns as `solve_patterns`. */
TARGET EXPORT int NAME(pattern_diagonals)(const Lapack *lapack, int64_t P, int64_t c, const double *A, const int32_t *active,
                                          const int64_t *starts, int rest, double *out) {
    const int64_t widest = (c + 3) / 4 * 4;
    double *S = malloc(sizeof(double) * (c + 2) * widest);
    if (!S) return 1;
    double *across = S + c * widest;
    for (int64_t p = 0; p < P; p++, out += c) {
        const int32_t *at = active + starts[p];
        const int64_t k = starts[p + 1] - starts[p], lead = NAME(gather)(A, c, at, k, S);
        if (isnan(NAME(invert)(lapack, S, k, lead, across))) {
            free(S);
            return 2;
        }
        if (!rest) {
            for (int64_t j = 0; j < c; j++) out[j] = 0.0;
            for (int64_t i = 0; i < k; i++) out[at[i]] = S[i * lead + i];
            continue;
        }
        for (int64_t j = 0; j < c; j++) out[j] = A[j * c + j];
        for (int64_t i = 0; i < k; i++) { /* sum over i, l of inverse_il A_ij A_lj for all columns j at once */
            for (int64_t j = 0; j < c; j++) across[j] = 0.0;
            for (int64_t l = 0; l < k; l++) {
                const double factor = S[i * lead + l], *restrict from = A + at[l] * c;
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
