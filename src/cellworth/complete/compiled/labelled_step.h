/* The E step of rows whose labels have any loss, as they are read, for one kind of processor. See solver/labelled_rows.py: given its
 * observed cells, the scores of a row have a mean m and a covariance V; its best scores follow from these and its label, and are those
 * of a squared loss with other targets, for which the step is that of streamed_step.h.
 *
 * Labels are the last q columns, in units in which their noise has variance 1. They are active in all systems but not swept, which
 * leaves in their place, from the side of the holes, the inverse of Q = unit^2 V + I, and from the other side Q itself. */
#ifndef NEWTON_STEPS
#define NEWTON_STEPS 60
#define HALVINGS 40
#define CALM 0.5 /* curvature of the labels beside 1 up to which Newton's steps need no search */

typedef struct {
    int64_t q;
    int loss;
    double weight, unit, curvature;
    const double *intercept; /* (q,) */
} Labels;

/* Solve q equations by Gaussian elimination with pivots. M (q, q) is overwritten, and x (q,) with the solution. */
static void solve_small(int64_t q, double *M, double *x) {
    for (int64_t p = 0; p < q; p++) {
        int64_t best = p;
        for (int64_t i = p + 1; i < q; i++)
            if (fabs(M[i * q + p]) > fabs(M[best * q + p])) best = i;
        for (int64_t j = 0; j < q && best != p; j++) {
            const double kept = M[p * q + j];
            M[p * q + j] = M[best * q + j];
            M[best * q + j] = kept;
        }
        const double side = x[p];
        x[p] = x[best];
        x[best] = side;
        for (int64_t i = p + 1; i < q; i++) {
            const double factor = M[i * q + p] / M[p * q + p];
            for (int64_t j = p; j < q; j++) M[i * q + j] -= factor * M[p * q + j];
            x[i] -= factor * x[p];
        }
    }
    for (int64_t p = q; p-- > 0;) {
        for (int64_t j = p + 1; j < q; j++) x[p] -= M[p * q + j] * x[j];
        x[p] /= M[p * q + p];
    }
}
#endif

/* For s = m + V a: writes s (q,) and the slopes of the loss there; returns a'Va / 2 + weight * loss, or half of it if not `wanted`. */
static double NAME(at_scores)(const Labels *labels, int wanted, const double *m, const double *V, const double *y, const double *a,
                              double *s, double *slopes) {
    const int64_t q = labels->q;
    double value = 0.0;
    for (int64_t i = 0; i < q; i++) {
        double moved = 0.0;
        for (int64_t j = 0; j < q; j++) moved += V[i * q + j] * a[j];
        value += 0.5 * a[i] * moved;
        slopes[i] = s[i] = m[i] + moved;
    }
    return value + labels->weight * NAME(loss_of_row)(labels->loss, wanted, q, slopes, y, NULL);
}

/* The scores s (q,) that minimise (s - m)' V^-1 (s - m) / 2 + weight * loss(y, s), and the slopes of the loss there, by Newton's method
 * on a = V^-1 (s - m), which is -weight * slopes. work: (q * q + 4 q,). */
static void NAME(best_scores)(const Labels *labels, const double *m, const double *V, const double *y, double *s, double *slopes,
                              double *work) {
    const int64_t q = labels->q;
    const double w = labels->weight;
    double *a = work, *step = a + q, *trial = step + q, *H = trial + q, *M = H + q, bend = 0.0;
    for (int64_t i = 0; i < q; i++) {
        a[i] = 0.0;
        bend += w * labels->curvature * V[i * q + i];
    }
    const int calm = bend < CALM;
    double value = NAME(at_scores)(labels, !calm, m, V, y, a, s, slopes);
    for (int n = 0; n < NEWTON_STEPS; n++) {
        double largest = 0.0, most = 0.0;
        for (int64_t i = 0; i < q; i++) {
            step[i] = -(a[i] + w * slopes[i]);
            largest = fabs(step[i]) > largest ? fabs(step[i]) : largest;
            most = fabs(w * slopes[i]) > most ? fabs(w * slopes[i]) : most;
        }
        if (largest <= 1e-14 * most) break;
        for (int64_t i = 0; i < q; i++) {
            const double size = fabs(slopes[i]);
            H[i] = labels->loss == LOGISTIC ? size * (1.0 - size) : labels->loss == SQUARED_HINGE ? (size > 0 ? 2.0 : 0.0) : slopes[i] + y[i];
        }
        for (int64_t j = 0; j < q; j++) { /* M = I + w H V; H is diagonal, or diag(p) - p p' */
            double shared = 0.0;
            if (labels->loss == MULTINOMIAL)
                for (int64_t i = 0; i < q; i++) shared += H[i] * V[i * q + j];
            for (int64_t i = 0; i < q; i++) M[i * q + j] = (i == j) + w * H[i] * (V[i * q + j] - shared);
        }
        solve_small(q, M, step);
        double length = 1.0, found = 0.0;
        for (int halved = 0; halved < HALVINGS; halved++, length /= 2) {
            for (int64_t i = 0; i < q; i++) trial[i] = a[i] + length * step[i];
            found = NAME(at_scores)(labels, !calm, m, V, y, trial, s, slopes);
            if (calm || found <= value + 1e-14 * fabs(value)) break;
        }
        largest = most = 0.0;
        for (int64_t i = 0; i < q; i++) {
            largest = fabs(trial[i] - a[i]) > largest ? fabs(trial[i] - a[i]) : largest;
            most = fabs(trial[i]) > most ? fabs(trial[i]) : most;
            a[i] = trial[i];
        }
        value = found;
        if (largest <= 1e-14 * most) break;
    }
}

/* Solve the rows of at most LANES patterns with k active columns. R (n, c): residuals, 0 in holes and labels; gets the holes from
 * the side of the holes, and the labels from both. G (n, c): from the side of the holes the precision times R; gets the solutions from
 * the other. Y (n, q): targets, in the order of `order`. Returns 0, or 2 if a system is not positive definite. */
TARGET static int NAME(label_batch)(NAME(Batch) *batch, const Labels *labels, int holes, int64_t k, int n_patterns, const uint64_t *masks,
                                    const int64_t *rows, double *R, double *G, const double *Y, const int32_t *order, double *work,
                                    double *loss) {
    const int64_t c = batch->c, q = labels->q, d = c - q;
    const double *restrict A = holes ? batch->precision : batch->covariance;
    const double w = labels->weight, unit = labels->unit;
    double *restrict S = batch->S, product[LANES], logarithm[LANES] = {0};
    double *Q = work, *V = Q + q * q, *M = V + q * q, *m = M + q * q, *s = m + q, *slopes = s + q, *side = slopes + q, *rest = side + c;
    int32_t active[LANES][MOST_COLUMNS];
    for (int l = 0; l < LANES; l++) {
        uint64_t left = masks[l < n_patterns ? l : 0];
        for (int64_t i = 0; i < k; i++, left &= left - 1) active[l][i] = (int32_t)__builtin_ctzll(left);
        for (int64_t i = 0; i < q; i++) active[l][k + i] = (int32_t)(d + i);
        for (int64_t i = 0, at = l; i < k + q; i++) {
            const double *restrict row = A + active[l][i] * c;
            for (int64_t j = 0; j <= i; j++, at += LANES) S[at] = row[active[l][j]];
        }
        product[l] = 1.0;
    }
    if (!NAME(sweep_lanes)(S, k, k + q, batch->v, product, logarithm)) return 2;
#define SWEPT(i, j) S[((i) < (j) ? (j) * ((j) + 1) / 2 + (i) : (i) * ((i) + 1) / 2 + (j)) * LANES + l]
    for (int l = 0; l < n_patterns; l++) {
        const int32_t *at = active[l];
        for (int64_t i = 0; i < q; i++) { /* Q, from the side of the holes as an inverse */
            for (int64_t j = 0; j < q; j++) Q[i * q + j] = holes ? 0.0 : SWEPT(k + i, k + j);
            if (!holes) continue;
            for (int64_t a = 0; a < q; a++) {
                Q[i * q + a] = a == i;
                for (int64_t b = 0; b < q; b++) M[a * q + b] = SWEPT(k + a, k + b);
            }
            solve_small(q, M, Q + i * q);
        }
        for (int64_t i = 0; i < q; i++)
            for (int64_t j = 0; j < q; j++) {
                V[i * q + j] = (Q[i * q + j] - (i == j)) / (unit * unit);
                if (i == j && !(V[i * q + j] > 0)) V[i * q + j] = 0.0;
            }
        for (int64_t r = rows[l]; r < rows[l + 1]; r++) {
            double *restrict row = R + r * c, *restrict g = G + r * c;
            const double *from = holes ? g : row, *y = Y + order[r] * q;
            for (int64_t i = 0; i < q; i++) {
                double value = holes ? g[d + i] : 0.0;
                for (int64_t j = 0; j < k; j++) value += (holes ? -1.0 : 1.0) * SWEPT(k + i, j) * from[at[j]];
                side[i] = value;
            }
            for (int64_t i = 0; i < q; i++) { /* the mean of the labels given the cells, less the intercept */
                double value = holes ? 0.0 : side[i];
                for (int64_t j = 0; j < q && holes; j++) value -= Q[i * q + j] * side[j];
                rest[i] = value;
                m[i] = value / unit + labels->intercept[i];
            }
            NAME(best_scores)(labels, m, V, y, s, slopes, rest + q);
            double squares = 0.0;
            for (int64_t i = 0; i < q; i++) {
                squares += slopes[i] * slopes[i];
                row[d + i] = unit * (s[i] - slopes[i] / labels->curvature - labels->intercept[i]);
                rest[i] = row[d + i] - rest[i];
            }
            *loss += w * NAME(loss_of_row)(labels->loss, 1, q, s, y, NULL) - 0.5 * w / labels->curvature * squares;
            if (holes) {
                for (int64_t i = 0; i < k; i++) {
                    double value = 0.0;
                    for (int64_t j = 0; j < k; j++) value -= SWEPT(i, j) * g[at[j]];
                    for (int64_t j = 0; j < q; j++) value += SWEPT(k + j, i) * row[d + j];
                    side[i] = value;
                }
                for (int64_t i = 0; i < k; i++) row[at[i]] = -side[i];
            } else {
                for (int64_t i = 0; i < q * q; i++) M[i] = Q[i];
                solve_small(q, M, rest);
                for (int64_t i = 0; i < k; i++) {
                    double value = 0.0;
                    for (int64_t j = 0; j < k; j++) value -= SWEPT(i, j) * row[at[j]];
                    for (int64_t j = 0; j < q; j++) value -= SWEPT(k + j, i) * rest[j];
                    g[at[i]] = value;
                }
                for (int64_t i = 0; i < q; i++) g[d + i] = rest[i];
            }
        }
    }
#undef SWEPT
    return 0;
}

/* Add the E step of n rows of cells, d columns, with targets Y (n, q), to the sums first (c,) and second (c, c), c = d + q, of the
 * completed residuals, labels with their working targets. A cell is (x - offset) / width, its mean 0. precision, covariance: (c, c). loss: gets what the weighted losses have over those of the working
 * targets. Returns 0; 1 without memory; 2 if a system is not positive definite. */
TARGET EXPORT int NAME(labelled_step)(const Blasdouble *blas, int64_t n, int64_t d, int64_t q, const Cells *cells, const double *Y,
                                      const double *offset, const double *width, const double *precision,
                                      const double *covariance, int kind, double weight, double curvature, const double *intercept,
                                      double *first, double *second, double *loss) {
    const int64_t c = d + q, most_rows = CHUNK_BYTES / (8 * c), most = most_rows > n ? n : most_rows;
    double *R = malloc(sizeof(double) * (3 * most * c + LANES * (c * (c + 1) / 2 + c) + 4 * q * q + 10 * c));
    uint64_t *keys = malloc(most * (sizeof(uint64_t) + 2 * sizeof(int32_t) + 1));
    if (!R || !keys) {
        free(R);
        free(keys);
        return 1;
    }
    double *G = R + most * c, *T = G + most * c, *S = T + most * c, *v = S + LANES * (c * (c + 1) / 2), *work = v + LANES * c;
    NAME(Batch) batch = {c, precision, covariance, NULL, NULL, 0.0, {0}, S, v, NULL};
    const Labels labels = {q, kind, weight, sqrt(curvature * weight), curvature, intercept};
    int32_t *order = (int32_t *)(keys + most), *spare = order + most, ends[N_BUCKETS];
    uint8_t *bucket = (uint8_t *)(spare + most);
    const int single = (int)cells->single_precision;
    const uint64_t whole = (1ULL << d) - 1; /* d < 64, as there are labels */
    int failed = 0;
    const NAME(Scale) scale = NAME(scale_of)(d, offset, width, NULL);
    for (int64_t start = 0; start < n && !failed; start += most) {
        const int64_t m = n - start < most ? n - start : most;
        const char *x = NAME(rows_at)(cells, start, m, T);
        NAME(find_patterns)(single, m, d, x, keys, bucket);
        sort_rows(m, keys, bucket, order, ends, spare);
        const int64_t n_holes = ends[OBSERVED_SIDE - 1];
        for (int64_t s = 0; s < m; s++) {
            const int64_t i = order[s];
            double *restrict r = R + s * c;
            NAME(residuals)(single, d, x + i * d * (single ? 4 : 8), keys[i], &scale, r);
            for (int64_t j = d; j < c; j++) r[j] = 0.0;
        }
        NAME(multiply)(blas, n_holes, c, R, c, precision, G, c);
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
            failed = NAME(label_batch)(&batch, &labels, holes, k, n_patterns, masks, rows, R, G, Y + start * q, order, work, loss);
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
        NAME(add_rows)(m, c, R, first);
    }
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < i; j++) second[j * c + i] = second[i * c + j];
    free(R);
    free(keys);
    return failed;
}
