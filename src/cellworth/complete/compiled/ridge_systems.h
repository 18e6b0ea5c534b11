/* Rows as ridge regressions of their observed cells on the columns of a right factor, for one kind of processor. See
 * solver/factors.py. ABREAST rows are solved at once, one in each lane: small systems have too short loops for one at a time. */

typedef double NAME(Lanes) __attribute__((vector_size(8 * ABREAST), aligned(8), may_alias));

/* Factor the systems S (r, r) in their lower triangles by Cholesky's method, in place; the inverse of the diagonal is kept instead of
 * it. Then solve for x (r,), in place. Returns whether every pivot was positive. */
TARGET static int NAME(solve_lanes)(int64_t r, NAME(Lanes) *restrict S, NAME(Lanes) *restrict x) {
    for (int64_t a = 0; a < r; a++) {
        NAME(Lanes) *restrict row = S + a * r;
        for (int64_t b = 0; b < a; b++) {
            const NAME(Lanes) *restrict other = S + b * r;
            NAME(Lanes) sum = row[b];
            for (int64_t k = 0; k < b; k++) sum -= row[k] * other[k];
            row[b] = sum * other[b];
        }
        NAME(Lanes) pivot = row[a];
        for (int64_t k = 0; k < a; k++) pivot -= row[k] * row[k];
        for (int lane = 0; lane < ABREAST; lane++) {
            if (!(pivot[lane] > 0)) return 0;
            pivot[lane] = 1.0 / sqrt(pivot[lane]);
        }
        row[a] = pivot;
        NAME(Lanes) sum = x[a];
        for (int64_t k = 0; k < a; k++) sum -= row[k] * x[k];
        x[a] = sum * pivot;
    }
    for (int64_t a = r; a-- > 0;) {
        const NAME(Lanes) solved = x[a] * S[a * r + a];
        x[a] = solved;
        for (int64_t k = 0; k < a; k++) x[k] -= S[a * r + k] * solved;
    }
    return 1;
}

/* Add to the systems, in their lower triangles, the outer products of the columns that each row has observed: masks (d,). */
TARGET static void NAME(add_observed)(int64_t d, int64_t r, const NAME(Lanes) *restrict masks, const double *restrict outer,
                                      const double *restrict common, NAME(Lanes) *restrict S) {
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = 0; b <= a; b++) {
            const double *restrict product = outer + (a * r + b) * d;
            NAME(Lanes) sum = {0}, odd = {0};
            int64_t j = 0;
            for (; j + 1 < d; j += 2) {
                sum += masks[j] * product[j];
                odd += masks[j + 1] * product[j + 1];
            }
            if (j < d) sum += masks[j] * product[j];
            S[a * r + b] = sum + odd + common[a * r + b];
        }
}

/* solved (n, r): the z with (B M_i B' + A) z = s_i for each row i, where B (r, d) is `right`, M_i the mask of row i of `observed`
 * (n, d), A (r, r) is `common`, and s_i a row of `sides` (n, r). Returns 0; 1 without memory; 2 if a system is not positive definite. */
TARGET EXPORT int NAME(solve_rows)(int64_t n, int64_t d, int64_t r, const uint8_t *observed, const double *right, const double *common,
                                   const double *sides, double *solved) {
    const int64_t lanes = r * r + r + d, doubles = r * r * d;
    double *work = aligned_alloc(64, (sizeof(double) * (lanes * ABREAST + doubles) + 63) / 64 * 64);
    if (!work) return 1;
    NAME(Lanes) *S = (NAME(Lanes) *)work, *x = S + r * r, *masks = x + r;
    double *outer = work + lanes * ABREAST;
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = 0; b <= a; b++)
            for (int64_t j = 0; j < d; j++) outer[(a * r + b) * d + j] = right[a * d + j] * right[b * d + j];
    int failed = 0;
    for (int64_t begin = 0; begin < n && !failed; begin += ABREAST) {
        const int64_t rows = n - begin < ABREAST ? n - begin : ABREAST;
        for (int lane = 0; lane < ABREAST; lane++) { /* the lanes that are left over repeat the last row */
            const int64_t i = begin + (lane < rows ? lane : rows - 1);
            for (int64_t j = 0; j < d; j++) masks[j][lane] = (double)observed[i * d + j];
            for (int64_t a = 0; a < r; a++) x[a][lane] = sides[i * r + a];
        }
        NAME(add_observed)(d, r, masks, outer, common, S);
        if (!NAME(solve_lanes)(r, S, x)) failed = 2;
        for (int64_t lane = 0; lane < rows; lane++)
            for (int64_t a = 0; a < r; a++) solved[(begin + lane) * r + a] = x[a][lane];
    }
    free(work);
    return failed;
}
