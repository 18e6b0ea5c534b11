/* The first iterate of rows that are near the solution, formed chunk by chunk. See solver/warm_start.py. */

/* A step that is not the last: x goes further in the holes than `fresh` says, by the relaxation. `a` becomes the point of the result. */
TARGET static void NAME(relaxed_cells)(int64_t n, REAL relaxation, REAL step, const REAL *restrict fresh, const REAL *restrict v,
                                       const uint8_t *restrict seen, REAL *restrict x, REAL *restrict a) {
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        const REAL new = x[j] + (seen[j] ? (REAL)1 : relaxation) * (fresh[j] - x[j]);
        x[j] = new;
        a[j] = new - step * (REAL)seen[j] * (new - v[j]);
    }
}

/* The last step: x becomes `fresh`, and `a` the point of it. Returns the misfit of x, and adds the sum of (a - x) x to `pull`. */
TARGET static double NAME(settled_cells)(int64_t n, REAL step, const REAL *restrict fresh, const REAL *restrict v,
                                         const uint8_t *restrict seen, REAL *restrict x, REAL *restrict a, double *pull) {
    REAL pulled = 0, misfit = 0;
#pragma omp simd reduction(+ : pulled, misfit)
    for (int64_t j = 0; j < n; j++) {
        const REAL new = fresh[j], r = (REAL)seen[j] * (new - v[j]);
        pulled += (a[j] - new) * new;
        misfit += r * r;
        x[j] = new;
        a[j] = new - step * r;
    }
    *pull += (double)pulled;
    return 0.5 * (double)misfit;
}

/* Turns the scores (n, q) of labelled rows into what the loss adds to their points, in units of the coefficients. */
static void NAME(pulls_of_labels)(int64_t n, double lipschitz, const REAL *targets, const TYPE(Model) * model, REAL *scores) {
    const int64_t q = model->q;
    const REAL factor = (REAL)(-model->weight / lipschitz);
    for (int64_t i = 0; i < n; i++) NAME(loss_of_row)(model->loss, 0, q, scores + i * q, targets + i * q, NULL);
    for (int64_t i = 0; i < n * q; i++) scores[i] *= factor;
}

/* points (n, d) += g (n, q) times the coefficients (q, d), ABREAST rows at a time: a row alone is too short a loop. */
TARGET static void NAME(add_to_points)(int64_t n, int64_t d, int64_t q, const REAL *g, const REAL *coef, REAL *points) {
    for (int64_t begin = 0; begin < n; begin += ABREAST) {
        const int64_t rows = n - begin < ABREAST ? n - begin : ABREAST;
        REAL *restrict a = points + begin * d;
        for (int64_t c = 0; c < q; c++) {
            const REAL *restrict w = coef + c * d, *restrict of_rows = g + begin * q + c;
            if (rows == ABREAST) {
#pragma omp simd
                for (int64_t j = 0; j < d; j++)
#pragma GCC unroll 8
                    for (int i = 0; i < ABREAST; i++) a[i * d + j] += of_rows[i * q] * w[j];
            } else {
                for (int64_t i = 0; i < rows; i++)
#pragma omp simd
                    for (int64_t j = 0; j < d; j++) a[i * d + j] += of_rows[i * q] * w[j];
            }
        }
    }
}

/* The points (n, d) of rows x: a = x - gradient / L. scores (n, q) is work; targets: NULL for rows without labels. */
static void NAME(form_points)(const TYPE(Blas) * blas, int64_t n, int64_t d, double lipschitz, const REAL *values, const uint8_t *seen,
                              const REAL *targets, const TYPE(Model) * model, const REAL *x, REAL *a, REAL *scores) {
    double unused = 0.0;
    NAME(first_cells)(n * d, (REAL)(1.0 / lipschitz), x, a, values, seen, &unused);
    if (!targets) return;
    NAME(scores_of)(blas, n, d, x, model, scores);
    NAME(pulls_of_labels)(n, lipschitz, targets, model, scores);
    NAME(add_to_points)(n, d, model->q, scores, model->coef, a);
}

/* Forms the rows begin .. begin + n of a run in x (n, d), and in a (n, d) their points without the part of the labels; returns the misfit.
 * `next` is the first of the changed rows from `begin` on; it moves on. fresh (n, d) and scores (n, q) are work. targets: NULL for rows
 * without labels. more: whether as many rows follow, which are fetched meanwhile. */
static double NAME(form_rows)(const TYPE(Blas) * blas, const TYPE(Near) * near, int64_t begin, int64_t n, int64_t d, double lipschitz,
                              const REAL *values, const uint8_t *seen, const REAL *targets, const TYPE(Model) * model, int64_t *next,
                              REAL *x, REAL *a, REAL *fresh, REAL *scores, int more) {
    const int64_t bytes = d * sizeof(REAL), of_left = near->r * sizeof(REAL);
    const REAL *left = near->left + begin * near->r;
    const Soon soon = {{left + n * near->r, x + n * d, values + n * d, seen + n * d}, {of_left, bytes, bytes, d}};
    const REAL step = (REAL)(1.0 / lipschitz);
    double misfit = 0.0;
    NAME(multiply_by)(blas, n, near->r, d, left, near->r, near->right, x, d, NULL);
    for (; *next < near->n_changed && near->changed[*next] < begin + n; ++*next) {
        const REAL *from = near->updated + *next * d;
        REAL *to = x + (near->changed[*next] - begin) * d;
        for (int64_t j = 0; j < d; j++) to[j] = from[j];
    }
    NAME(first_cells)(n * d, step, x, a, values, seen, &misfit);
    if (near->steps && targets) { /* once: what a step changes in the slopes is of second order */
        NAME(scores_of)(blas, n, d, x, model, scores);
        NAME(pulls_of_labels)(n, lipschitz, targets, model, scores);
    }
    for (int64_t s = 1; s <= near->steps; s++) {
        if (targets) NAME(add_to_points)(n, d, model->q, scores, model->coef, a);
        NAME(multiply_by)(blas, n, d, d, a, d, near->operator_, fresh, d, more && s == 1 ? &soon : NULL);
        if (s < near->steps) NAME(relaxed_cells)(n * d, (REAL)near->relaxation, step, fresh, values, seen, x, a);
        else misfit = NAME(settled_cells)(n * d, step, fresh, values, seen, x, a, near->pull);
    }
    return misfit;
}

/* out (n, d) = A (n, k) times P (k, d), C-ordered all. */
EXPORT void NAME(row_product)(const TYPE(Blas) * blas, int64_t n, int64_t k, int64_t d, const REAL *A, const REAL *P, REAL *out) {
    NAME(multiply_by)(blas, n, k, d, A, k, P, out, d, NULL);
}
