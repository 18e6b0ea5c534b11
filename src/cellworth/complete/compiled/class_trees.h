/* Extra trees for classes, for one kind of processor: as extra_trees.h, but a split is judged by Gini's index, and a leaf has the share
 * of each class. See complete/class_trees.py, which has the same in NumPy: counts are exact, so the splits are the same, to the bit. */

/* Find the best of one random split for each considered feature, given the counts (q,) of the node's classes; as `best_split`.
 * counts (q, lead): work. */
TARGET static int32_t NAME(best_class_split)(const NAME(Grower) *g, const int32_t *classes, int64_t q, const double *totals,
                                             double *counts, const int32_t *rows, int64_t n, uint64_t key, double *threshold) {
    const int64_t lead = g->lead, k = NAME(draw_thresholds)(g, rows, n, key);
    double *restrict left = g->sum, *restrict gain = g->low, *restrict at = g->at, *restrict rest = g->high;
    const int32_t *columns = g->columns;
    const int all = g->share >= FEW_FEATURES;
    for (int64_t j = 0; j < q * lead; j++) counts[j] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double *restrict x = g->features + rows[i] * lead;
        double *restrict count = counts + classes[rows[i]] * lead;
        if (all) {
#pragma omp simd
            for (int64_t j = 0; j < lead; j++) count[j] += x[j] <= at[j] ? 1.0 : 0.0;
        } else {
            for (int64_t j = 0; j < k; j++) count[j] += x[columns[j]] <= at[j] ? 1.0 : 0.0;
        }
    }
    for (int64_t j = 0; j < k; j++) left[j] = gain[j] = rest[j] = 0.0;
    for (int64_t c = 0; c < q; c++) {
        const double *restrict count = counts + c * lead, total = totals[c];
#pragma omp simd
        for (int64_t j = 0; j < k; j++) {
            left[j] += count[j];
            gain[j] += count[j] * count[j];
            rest[j] += (total - count[j]) * (total - count[j]);
        }
    }
    const double size = (double)n, least = (double)g->leaf;
#pragma omp simd
    for (int64_t j = 0; j < k; j++) {
        const double right = size - left[j], found = gain[j] / left[j] + rest[j] / right;
        gain[j] = left[j] >= least && right >= least ? found : -INFINITY;
    }
    return NAME(largest_gain)(g, gain, k, TIE * size, threshold);
}

/* Grow T trees, as `grow_trees` does, for classes (m,) from 0 to q - 1. shares (T, capacity, q): of the classes in each node.
 * left_out_sum (m, q), left_out_count (m,): of the shares that the trees which did not see a row give it. Returns 0; 1 without memory. */
TARGET EXPORT int NAME(grow_class_trees)(int64_t m, int64_t f, const double *features, const int32_t *classes, int64_t q, int64_t T,
                                         int64_t s, const int32_t *bags, const uint64_t *keys, int64_t leaf, double share,
                                         int64_t capacity, int32_t *feature, double *number, int32_t *child, double *shares,
                                         double *left_out_sum, double *left_out_count) {
    const int64_t lead = NAME(padded)(f);
    double *work = NAME(line_up)(sizeof(double) * ((5 + m + q) * lead + q) + sizeof(int32_t) * (lead + 2 * s) + (size_t)m);
    uint64_t *key_of = malloc(sizeof(uint64_t) * capacity + 3 * sizeof(int64_t) * capacity);
    if (!work || !key_of) {
        free(work);
        free(key_of);
        return 1;
    }
    int64_t *first = (int64_t *)(key_of + capacity), *size = first + capacity, *stack = size + capacity;
    double *counts = work + (5 + m) * lead, *totals = counts + q * lead;
    int32_t *rows = (int32_t *)(totals + q), *moved = rows + s;
    uint8_t *seen = (uint8_t *)(moved + s + lead);
    const NAME(Grower) grower = NAME(grower_of)(m, f, leaf, share, features, NULL, work, moved + s);
    features = grower.features;
    for (int64_t t = 0; t < T; t++, feature += capacity, number += capacity, child += capacity, shares += capacity * q) {
        for (int64_t i = 0; i < m; i++) seen[i] = 0;
        for (int64_t i = 0; i < s; i++) rows[i] = bags[t * s + i], seen[rows[i]] = 1;
        int64_t used = 1, waiting = 1;
        first[0] = 0, size[0] = s, key_of[0] = keys[t], stack[0] = 0;
        while (waiting) {
            const int64_t node = stack[--waiting], n = size[node];
            int32_t *mine = rows + first[node];
            double threshold = 0.0, largest = 0.0;
            for (int64_t c = 0; c < q; c++) totals[c] = 0.0;
            for (int64_t i = 0; i < n; i++) totals[classes[mine[i]]] += 1.0;
            for (int64_t c = 0; c < q; c++) {
                shares[node * q + c] = totals[c] / (double)n;
                largest = totals[c] > largest ? totals[c] : largest;
            }
            int32_t by = -1;
            if (n >= 2 * leaf && largest < (double)n)
                by = NAME(best_class_split)(&grower, classes, q, totals, counts, mine, n, key_of[node], &threshold);
            feature[node] = by;
            number[node] = threshold;
            child[node] = 0;
            if (by < 0) continue;
            const int64_t left = NAME(part_rows)(&grower, mine, n, by, threshold, moved), right = n - left;
            child[node] = (int32_t)used;
            for (int64_t side = 0; side < 2; side++, used++) {
                first[used] = first[node] + (side ? left : 0);
                size[used] = side ? right : left;
                key_of[used] = NAME(mix)(key_of[node] + 1 + (uint64_t)side);
                stack[waiting++] = used;
            }
        }
        NAME(add_left_out)(m, lead, features, seen, q, feature, number, child, shares, left_out_sum, left_out_count);
    }
    free(work);
    free(key_of);
    return 0;
}
