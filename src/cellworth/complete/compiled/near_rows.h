/* The first iterate of rows that are near the solution, formed chunk by chunk. See solver/warm_start.py. */

/* A step that is not the last: holes go further than the operator says, by the relaxation. */
TARGET static void NAME(relaxed_cells)(int64_t n, REAL relaxation, const REAL *restrict fresh, const uint8_t *restrict seen,
                                       REAL *restrict x) {
#pragma omp simd
    for (int64_t j = 0; j < n; j++) x[j] += (seen[j] ? (REAL)1 : relaxation) * (fresh[j] - x[j]);
}

/* The last step; returns the sum of (a - x) x. */
TARGET static double NAME(settled_cells)(int64_t n, const REAL *restrict a, const REAL *restrict fresh, REAL *restrict x) {
    REAL pull = 0;
#pragma omp simd reduction(+ : pull)
    for (int64_t j = 0; j < n; j++) {
        pull += (a[j] - fresh[j]) * fresh[j];
        x[j] = fresh[j];
    }
    return (double)pull;
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

/* Forms the rows begin .. begin + n of a run in x (n, d). `next` is the first of the changed rows from `begin` on; it moves on. a, fresh
 * (n, d) and scores (n, q) are work. targets: NULL for rows without labels. */
static void NAME(form_rows)(const TYPE(Blas) * blas, const TYPE(Near) * near, int64_t begin, int64_t n, int64_t d, double lipschitz,
                            const REAL *values, const uint8_t *seen, const REAL *targets, const TYPE(Model) * model, int64_t *next,
                            REAL *x, REAL *a, REAL *fresh, REAL *scores) {
    const int64_t bytes = d * sizeof(REAL);
    const Soon soon = {{values, seen, a, NULL}, {bytes, d, bytes, 0}};
    NAME(multiply_by)(blas, n, near->r, d, near->left + begin * near->r, near->r, near->right, x, d, &soon);
    for (; *next < near->n_changed && near->changed[*next] < begin + n; ++*next) {
        const REAL *from = near->updated + *next * d;
        REAL *to = x + (near->changed[*next] - begin) * d;
        for (int64_t j = 0; j < d; j++) to[j] = from[j];
    }
    for (int64_t s = 0; s < near->steps; s++) {
        double unused = 0.0;
        NAME(first_cells)(n * d, (REAL)(1.0 / lipschitz), x, a, values, seen, &unused);
        if (targets && s == 0) { /* what a step changes in the slopes is of second order */
            NAME(scores_of)(blas, n, d, x, model, scores);
            NAME(pulls_of_labels)(n, lipschitz, targets, model, scores);
        }
        if (targets) NAME(add_to_points)(n, d, model->q, scores, model->coef, a);
        NAME(multiply)(blas, n, d, a, d, near->operator_, fresh, d);
        if (s + 1 < near->steps)
            NAME(relaxed_cells)(n * d, (REAL)near->relaxation, fresh, seen, x);
        else
            *near->pull += NAME(settled_cells)(n * d, a, fresh, x);
    }
}

/* out (n, d) = A (n, k) times P (k, d), C-ordered all. */
EXPORT void NAME(row_product)(const TYPE(Blas) * blas, int64_t n, int64_t k, int64_t d, const REAL *A, const REAL *P, REAL *out) {
    NAME(multiply_by)(blas, n, k, d, A, k, P, out, d, NULL);
}
