/* The fused pass between the two products of a proximal step, for one REAL type and one kind of processor. See solver/step.py
 * for the mathematics: quantities have the names that they have there. */

/* The loss of one row's scores s (q,) for its targets y (q,). Returns the value, or 0 unless it is `wanted`: its logarithms are most
 * of the work. Overwrites s with the slopes, and writes the working targets s - slope / curvature to t if it is not NULL. */
static inline double NAME(loss_of_row)(int loss, int wanted, int64_t q, REAL *s, const REAL *y, double *t) {
    static const double curvature[] = {2.0, 0.25, 2.0, 0.5};
    double value = 0.0, most = -INFINITY, total = 0.0, base = 0.0;
    if (loss == MULTINOMIAL) {
        for (int64_t c = 0; c < q; c++) most = s[c] > most ? s[c] : most;
        for (int64_t c = 0; c < q; c++) total += exp(s[c] - most);
        if (wanted) base = most + log(total);
    }
    for (int64_t c = 0; c < q; c++) {
        double score = s[c], target = y[c], slope, margin, small;
        switch (loss) {
        case SQUARED:
            slope = score - target;
            value += slope * slope;
            slope *= 2.0;
            break;
        case LOGISTIC:
            margin = -target * score;
            small = exp(-fabs(margin));
            if (wanted) value += log1p(small) + (margin > 0 ? margin : 0.0);
            slope = -target * (margin > 0 ? 1.0 : small) / (1.0 + small);
            break;
        case SQUARED_HINGE:
            margin = 1.0 - target * score;
            margin = margin > 0 ? margin : 0.0;
            value += margin * margin;
            slope = -2.0 * target * margin;
            break;
        default:
            value -= target * (score - base);
            slope = exp(score - most) / total - target;
        }
        if (t) t[c] = score - slope / curvature[loss];
        s[c] = (REAL)slope;
    }
    return wanted ? value : 0.0;
}

/* Cells of a chunk of rows, all alike: `fresh` becomes Z, `point` the new iterate, `iterate` Z - R_Omega(Z - X) / L. */
TARGET static void NAME(cells)(int64_t n, REAL beta, REAL step, REAL *restrict fresh, REAL *restrict x, REAL *restrict a,
                               const REAL *restrict v, const uint8_t *restrict seen, double *sums) {
    REAL misfit = 0, change = 0;
#pragma omp simd reduction(+ : misfit, change)
    for (int64_t j = 0; j < n; j++) {
        REAL new = fresh[j], known = (REAL)seen[j], move = new - x[j], r = known * (new - v[j]), z = new + beta * move;
        misfit += r * r;
        change += move * move;
        a[j] = new;
        fresh[j] = z;
        x[j] = z - step * known * (z - v[j]);
    }
    sums[0] += 0.5 * (double)misfit;
    sums[2] += (double)change;
}

/* The same without momentum, from the iterate: `point` becomes X - R_Omega(X - values) / L. */
TARGET static void NAME(first_cells)(int64_t n, REAL step, const REAL *restrict x, REAL *restrict a,
                                     const REAL *restrict v, const uint8_t *restrict seen, double *sums) {
    REAL misfit = 0;
#pragma omp simd reduction(+ : misfit)
    for (int64_t j = 0; j < n; j++) {
        REAL r = (REAL)seen[j] * (x[j] - v[j]);
        misfit += r * r;
        a[j] = x[j] - step * r;
    }
    sums[0] += 0.5 * (double)misfit;
}

/* Half of it: `out` becomes the new iterate; it may be the iterate x itself. */
TARGET static void NAME(last_cells)(int64_t n, const REAL *restrict fresh, const REAL *x, REAL *out, const REAL *restrict v,
                                    const uint8_t *restrict seen, double *sums) {
    REAL misfit = 0, change = 0;
#pragma omp simd reduction(+ : misfit, change)
    for (int64_t j = 0; j < n; j++) {
        REAL r = (REAL)seen[j] * (fresh[j] - v[j]), move = fresh[j] - x[j];
        misfit += r * r;
        change += move * move;
        out[j] = fresh[j];
    }
    sums[0] += 0.5 * (double)misfit;
    sums[2] += (double)change;
}

/* The move of sampled rows, and its overlap with the last one, which it replaces in `trail`. */
TARGET static void NAME(sampled_cells)(int64_t n, const REAL *restrict fresh, const REAL *restrict x,
                                       REAL *restrict trail, double *sums) {
    REAL sampled = 0, overlap = 0;
#pragma omp simd reduction(+ : sampled, overlap)
    for (int64_t j = 0; j < n; j++) {
        REAL move = fresh[j] - x[j];
        sampled += move * move;
        overlap += move * trail[j];
        trail[j] = move;
    }
    sums[3] += (double)sampled;
    sums[4] += (double)overlap;
}

/* The scores (n, q) of rows X (n, d). */
static void NAME(scores_of)(const TYPE(Blas) * blas, int64_t n, int64_t d, const REAL *X, const TYPE(Model) * model,
                            REAL *scores) {
    int rows = (int)n, columns = (int)d, q = (int)model->q, one = 1;
    REAL unit = 1;
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < q; c++) scores[i * q + c] = model->intercept[c];
    if (q == 1)
        blas->gemv("T", &columns, &rows, &unit, (REAL *)X, &columns, (REAL *)model->coef, &one, &unit, scores, &one);
    else
        blas->gemm("T", "N", &q, &rows, &columns, &unit, (REAL *)model->coef, &columns, (REAL *)X, &columns, &unit, scores,
                   &q);
}

/* ABREAST rows with one score each: adds the slopes' part g w to the next points, and adds up these points, alone and times the
 * working targets t. Sums of rows are read and written once for all of them. */
TARGET static void NAME(rows_abreast)(int64_t d, const REAL *restrict w, const REAL *g, const double *t, REAL *restrict next,
                                      double *restrict to, double *restrict ones) {
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        double sum = 0.0, weighted = 0.0;
#pragma GCC unroll 8
        for (int i = 0; i < ABREAST; i++) {
            const REAL moved = next[i * d + j] + g[i] * w[j];
            next[i * d + j] = moved;
            sum += (double)moved;
            weighted += t[i] * (double)moved;
        }
        ones[j] += sum;
        to[j] += weighted;
    }
}

/* Labelled rows: turns the scores of Z into slopes, adds the slopes' part to the next points, and adds up these points,
 * alone and times the working targets. Returns the loss if it is `wanted`, else 0. */
TARGET static double NAME(labelled_rows)(int wanted, int64_t n, int64_t d, double lipschitz, const REAL *targets,
                                         const TYPE(Model) * ahead, REAL *scores, REAL *next, double *cross, double *working) {
    const int64_t q = ahead->q;
    const REAL factor = (REAL)(-ahead->weight / lipschitz);
    double loss = 0.0, *t = working + q, *restrict ones = cross + q * d;
    int64_t begin = 0;
    for (; q == 1 && begin + ABREAST <= n; begin += ABREAST) {
        REAL g[ABREAST];
        double of_rows[ABREAST];
        for (int i = 0; i < ABREAST; i++) {
            loss += NAME(loss_of_row)(ahead->loss, wanted, 1, scores + begin + i, targets + begin + i, of_rows + i);
            g[i] = factor * scores[begin + i];
            working[0] += of_rows[i];
        }
        NAME(rows_abreast)(d, ahead->coef, g, of_rows, next + begin * d, cross, ones);
    }
    for (int64_t i = begin; i < n; i++) {
        REAL *restrict out = next + i * d;
        loss += NAME(loss_of_row)(ahead->loss, wanted, q, scores + i * q, targets + i * q, t);
        for (int64_t c = 0; c < q; c++) {
            const REAL *restrict w = ahead->coef + c * d;
            const REAL g = factor * scores[i * q + c];
#pragma omp simd
            for (int64_t j = 0; j < d; j++) out[j] += g * w[j];
        }
        for (int64_t c = 0; c < q; c++) {
            double *restrict to = cross + c * d;
            working[c] += t[c];
#pragma omp simd
            for (int64_t j = 0; j < d; j++) to[j] += t[c] * (double)out[j];
        }
#pragma omp simd
        for (int64_t j = 0; j < d; j++) ones[j] += (double)out[j];
    }
    return ahead->weight * loss;
}

#include "near_rows.h"

/* A pass over a run of blocks; of each block the first `sample` rows are sampled, `last_sample` of the last one. Returns 0,
 * or 1 without memory. START forms the iterate itself if `near` is not NULL. Without a `point`, START keeps none, and LAND forms it
 * again from the iterate, with `ahead`, and puts the new iterate in its place: writing and reading points takes longer.
 * gram: (2, d, d), of labelled and of other rows; cross: (q + 1, d); working: (q,); sums: (5,). All are added to. */
EXPORT int NAME(proximal_pass)(const TYPE(Blas) * blas, int mode, int64_t n, int64_t d, int64_t block, int64_t sample,
                        int64_t last_sample, REAL *iterate, REAL *point, REAL *trail, const REAL *operator_, double momentum,
                        double lipschitz, const REAL *values, const uint8_t *observed, const REAL *targets,
                        int64_t n_targets, const TYPE(Model) * model, const TYPE(Model) * ahead, double *gram,
                        double *cross, double *working, double *sums, const TYPE(Near) * near) {
    const int64_t q = model->q;
    int64_t next_changed = 0;
    const int64_t most = CHUNK_CELLS / d > 8 ? CHUNK_CELLS / d : 8;
    REAL *fresh = malloc(sizeof(REAL) * (most * (2 * d + q) + d * d));
    double *sums_of_targets = calloc(2 * q, sizeof(double));
    if (!fresh || !sums_of_targets) {
        free(fresh);
        free(sums_of_targets);
        return 1;
    }
    REAL *scores = fresh + most * d, *part = scores + most * q, *passing = part + d * d;
    for (int64_t begin = 0, of_block = 0; begin < n;) {
        int64_t end = begin + most, block_end = of_block + block;
        if (end > block_end) end = block_end;
        if (end > n) end = n;
        if (begin < n_targets && end > n_targets) end = n_targets;
        const int64_t rows = end - begin, at = begin * d, cells = rows * d;
        const int labelled = begin < n_targets;
        const REAL *v = values + at, *y = targets + begin * q;
        const uint8_t *seen = observed + at;
        REAL *x = iterate + at, *a = point ? point + at : passing, *next = mode == STEP ? x : a;
        if (mode == START) {
            if (near)
                sums[0] += NAME(form_rows)(blas, near, begin, rows, d, lipschitz, v, seen, labelled ? y : NULL, model, &next_changed, x,
                                           a, fresh, scores, end + rows <= n);
            else NAME(first_cells)(cells, (REAL)(1.0 / lipschitz), x, a, v, seen, sums);
            if (labelled) NAME(scores_of)(blas, rows, d, x, model, scores);
        } else {
            const int64_t bytes = d * sizeof(REAL);
            const REAL *following = end + rows <= n ? (point ? a : x) + cells : NULL;
            const int64_t ahead_of = point || !following ? 0 : cells; /* without points, these rows are there already */
            const Soon soon = {{point ? x : NULL, v + ahead_of, seen + ahead_of, following}, {bytes, bytes, d, bytes}};
            if (!point) NAME(form_points)(blas, rows, d, lipschitz, v, seen, labelled ? y : NULL, ahead, x, a, scores);
            NAME(multiply_by)(blas, rows, d, d, a, d, operator_, fresh, d, &soon);
            if (labelled) {
                NAME(scores_of)(blas, rows, d, fresh, model, scores);
                for (int64_t i = 0; i < rows; i++)
                    sums[1] += model->weight * NAME(loss_of_row)(model->loss, 1, q, scores + i * q, y + i * q, NULL);
            }
        }
        if (mode == LAND) NAME(last_cells)(cells, fresh, x, point ? a : x, v, seen, sums);
        if (mode == STEP) {
            int64_t left = of_block + (block_end < n ? sample : last_sample) - begin;
            if (left > rows) left = rows;
            if (left > 0)
                NAME(sampled_cells)(left * d, fresh, x, trail + (of_block / block * sample + begin - of_block) * d, sums);
            NAME(cells)(cells, (REAL)momentum, (REAL)(1.0 / lipschitz), fresh, x, a, v, seen, sums);
            if (labelled) NAME(scores_of)(blas, rows, d, fresh, ahead, scores);
        }
        if (mode != LAND) {
            if (labelled) {
                sums[1] += NAME(labelled_rows)(mode == START, rows, d, lipschitz, y, ahead, scores, next, cross,
                                               sums_of_targets);
            }
            NAME(add_gram)(blas, rows, d, next, gram + (labelled ? 0 : d * d), part);
        }
        begin = end;
        if (begin == block_end) of_block = block_end;
    }
    for (int64_t c = 0; c < q; c++) working[c] += sums_of_targets[c];
    for (int g = 0; g < 2; g++) /* one triangle is set */
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < i; j++) gram[(g * d + j) * d + i] = gram[(g * d + i) * d + j];
    free(fresh);
    free(sums_of_targets);
    return 0;
}
