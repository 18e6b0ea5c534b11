/* Extra trees for one column, for one kind of processor. See complete/extra_trees.py, which has the same in NumPy: the same
 * splits, to the bit, since sums run over the rows in their order and the random numbers of a node depend on its path only. */

TARGET static uint64_t NAME(mix)(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

typedef struct {
    int64_t f, leaf;
    double share; /* of the features, considered for a split */
    const double *features, *target; /* (m, f), (m,) */
    int32_t *columns;                /* (f,) work: those considered */
    double *low, *high, *at, *sum, *count; /* (f,) work each */
} NAME(Grower);

/* Draw a threshold in at[] for each considered feature, listed in columns[]: NAN if a node of n rows has no two values of it. Returns how many. */
TARGET static int64_t NAME(draw_thresholds)(const NAME(Grower) *g, const int32_t *rows, int64_t n, uint64_t key) {
    const int64_t f = g->f;
    double *restrict low = g->low, *restrict high = g->high, *restrict at = g->at;
    int32_t *columns = g->columns;
    const int all = g->share >= FEW_FEATURES; /* then whole rows in vectors are faster than the considered ones */
    int64_t k = 0;
    for (int64_t j = 0; j < f; j++) {
        const uint64_t drawn = NAME(mix)(key ^ ((uint64_t)(j + 3) * 0xD1B54A32D192ED03u));
        const int considered = g->share >= 1.0 || (double)(NAME(mix)(drawn) >> 11) * 0x1p-53 < g->share;
        if (!considered && !all) continue;
        at[k] = considered ? (double)(drawn >> 11) * 0x1p-53 : NAN;
        columns[k++] = (int32_t)j;
    }
    for (int64_t j = 0; j < k; j++) low[j] = INFINITY, high[j] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double *restrict x = g->features + rows[i] * f;
        if (all) {
#pragma omp simd
            for (int64_t j = 0; j < f; j++) {
                low[j] = x[j] < low[j] ? x[j] : low[j];
                high[j] = x[j] > high[j] ? x[j] : high[j];
            }
        } else {
            for (int64_t j = 0; j < k; j++) {
                const double value = x[columns[j]];
                low[j] = value < low[j] ? value : low[j];
                high[j] = value > high[j] ? value : high[j];
            }
        }
    }
#pragma omp simd
    for (int64_t j = 0; j < k; j++) at[j] *= high[j] - low[j];
    __asm__ volatile("" ::: "memory"); /* no fused multiplication and addition: NumPy has none */
#pragma omp simd
    for (int64_t j = 0; j < k; j++) {
        double threshold_of = low[j] + at[j];
        threshold_of = threshold_of >= high[j] ? low[j] : threshold_of;
        at[j] = high[j] - low[j] > SAME ? threshold_of : NAN; /* NAN: no row goes left */
    }
    return k;
}

/* Return the first feature of those whose gains (k,) are within `tie` of the largest, or -1; its threshold goes to *threshold. */
TARGET static int32_t NAME(largest_gain)(const NAME(Grower) *g, const double *gains, int64_t k, double tie, double *threshold) {
    int64_t best = -1;
    double most = -INFINITY;
    for (int64_t j = 0; j < k; j++)
        if (gains[j] > most + tie) most = gains[j], best = j;
    if (best < 0) return -1;
    *threshold = g->at[best];
    return g->columns[best];
}

/* Find the best of one random split for each considered feature. Returns its feature, or -1; the threshold goes to *threshold. */
TARGET static int32_t NAME(best_split)(const NAME(Grower) *g, const int32_t *rows, int64_t n, uint64_t key, double total,
                                       double tie, double *threshold) {
    const int64_t f = g->f, k = NAME(draw_thresholds)(g, rows, n, key);
    double *restrict low = g->low, *restrict at = g->at, *restrict sum = g->sum, *restrict count = g->count;
    const int32_t *columns = g->columns;
    const int all = g->share >= FEW_FEATURES;
    for (int64_t j = 0; j < k; j++) sum[j] = count[j] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *restrict x = g->features + rows[i] * f, y = g->target[rows[i]];
        if (all) {
#pragma omp simd
            for (int64_t j = 0; j < f; j++) {
                sum[j] += x[j] <= at[j] ? y : 0.0;
                count[j] += x[j] <= at[j] ? 1.0 : 0.0;
            }
        } else {
            for (int64_t j = 0; j < k; j++) {
                const int goes = x[columns[j]] <= at[j];
                sum[j] += goes ? y : 0.0;
                count[j] += goes ? 1.0 : 0.0;
            }
        }
    }
    const double size = (double)n, least = (double)g->leaf;
#pragma omp simd
    for (int64_t j = 0; j < k; j++) {
        const double left = count[j], right = size - left, rest = total - sum[j];
        const double gain = sum[j] * sum[j] / left + rest * rest / right;
        low[j] = left >= least && right >= least ? gain : -INFINITY;
    }
    return NAME(largest_gain)(g, low, k, tie, threshold);
}

/* Find the leaf of one tree, node[i], for each of `size` <= ABREAST rows of features. They go down side by side: each waits for memory. */
TARGET static void NAME(find_leaves)(const double *const *x, int64_t size, const int32_t *feature, const double *number,
                                     const int32_t *child, int32_t *node) {
    for (int64_t i = 0; i < size; i++) node[i] = 0;
    for (int moving = 1; moving;) {
        moving = 0;
        for (int64_t i = 0; i < size; i++) {
            const int32_t at = node[i], by = feature[at];
            if (by < 0) continue;
            node[i] = child[at] + (x[i][by] > number[at]);
            moving = 1;
        }
    }
}

/* Add to out[i], for `size` <= ABREAST rows of features, the prediction of one tree. */
TARGET static void NAME(add_leaves)(const double *const *x, int64_t size, const int32_t *feature, const double *number,
                                    const int32_t *child, double *const *out) {
    int32_t node[ABREAST];
    NAME(find_leaves)(x, size, feature, number, child, node);
    for (int64_t i = 0; i < size; i++) *out[i] += number[node[i]];
}

/* Grow T trees. bags (T, s): the rows of each, ascending. keys (T,). feature, number, child (T, capacity): of a node, the feature
 * of its split (-1: a leaf), the threshold (of a leaf, its mean), and the left child, which the right one follows.
 * left_out_sum, left_out_count (m,): of the predictions of each row by the trees that did not see it. Returns 0; 1 without memory. */
TARGET EXPORT int NAME(grow_trees)(int64_t m, int64_t f, const double *features, const double *target, int64_t T, int64_t s,
                                   const int32_t *bags, const uint64_t *keys, int64_t leaf, double share, int64_t capacity,
                                   int32_t *feature, double *number, int32_t *child, double *left_out_sum,
                                   double *left_out_count) {
    double *work = malloc(sizeof(double) * 5 * f + sizeof(int32_t) * (f + 2 * s) + (size_t)m);
    uint64_t *key_of = malloc(sizeof(uint64_t) * capacity + 3 * sizeof(int64_t) * capacity);
    if (!work || !key_of) {
        free(work);
        free(key_of);
        return 1;
    }
    int64_t *first = (int64_t *)(key_of + capacity), *size = first + capacity, *stack = size + capacity;
    int32_t *rows = (int32_t *)(work + 5 * f), *moved = rows + s;
    uint8_t *seen = (uint8_t *)(moved + s + f);
    const NAME(Grower) grower = {f, leaf, share, features, target, moved + s, work, work + f, work + 2 * f, work + 3 * f, work + 4 * f};
    for (int64_t t = 0; t < T; t++, feature += capacity, number += capacity, child += capacity) {
        for (int64_t i = 0; i < m; i++) seen[i] = 0;
        for (int64_t i = 0; i < s; i++) rows[i] = bags[t * s + i], seen[rows[i]] = 1;
        int64_t used = 1, waiting = 1;
        first[0] = 0, size[0] = s, key_of[0] = keys[t], stack[0] = 0;
        while (waiting) {
            const int64_t node = stack[--waiting], n = size[node];
            int32_t *mine = rows + first[node];
            double total = 0.0, squares = 0.0, low = INFINITY, high = -INFINITY, threshold = 0.0;
            for (int64_t i = 0; i < n; i++) {
                const double y = target[mine[i]];
                total += y;
                squares += y * y;
                low = y < low ? y : low;
                high = y > high ? y : high;
            }
            int32_t by = -1;
            if (n >= 2 * leaf && low < high)
                by = NAME(best_split)(&grower, mine, n, key_of[node], total, TIE * squares, &threshold);
            feature[node] = by;
            if (by < 0) {
                number[node] = total / (double)n;
                child[node] = 0;
                continue;
            }
            int64_t left = 0, right = 0;
            for (int64_t i = 0; i < n; i++) {
                const int32_t row = mine[i];
                if (features[row * f + by] <= threshold) mine[left++] = row;
                else moved[right++] = row;
            }
            for (int64_t i = 0; i < right; i++) mine[left + i] = moved[i];
            number[node] = threshold;
            child[node] = (int32_t)used;
            for (int64_t side = 0; side < 2; side++, used++) {
                first[used] = first[node] + (side ? left : 0);
                size[used] = side ? right : left;
                key_of[used] = NAME(mix)(key_of[node] + 1 + (uint64_t)side);
                stack[waiting++] = used;
            }
        }
        const double *x[ABREAST];
        double *out[ABREAST];
        int64_t lanes = 0;
        for (int64_t i = 0; i < m; i++) {
            if (!seen[i]) {
                x[lanes] = features + i * f, out[lanes++] = left_out_sum + i;
                left_out_count[i] += 1.0;
            }
            if (lanes == ABREAST || (lanes && i == m - 1)) {
                NAME(add_leaves)(x, lanes, feature, number, child, out);
                lanes = 0;
            }
        }
    }
    free(work);
    free(key_of);
    return 0;
}

/* Add up the predictions of T trees for each of m rows of features (m, f) in out (m,). */
TARGET EXPORT void NAME(sum_trees)(int64_t m, int64_t f, const double *features, int64_t T, int64_t capacity,
                                   const int32_t *feature, const double *number, const int32_t *child, double *out) {
    const double *x[ABREAST];
    double *to[ABREAST];
    for (int64_t t = 0; t < T; t++, feature += capacity, number += capacity, child += capacity)
        for (int64_t i = 0; i < m; i += ABREAST) {
            const int64_t lanes = m - i < ABREAST ? m - i : ABREAST;
            for (int64_t k = 0; k < lanes; k++) x[k] = features + (i + k) * f, to[k] = out + i + k;
            NAME(add_leaves)(x, lanes, feature, number, child, to);
        }
}
