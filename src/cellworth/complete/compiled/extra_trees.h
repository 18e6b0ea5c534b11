/* Extra trees for one column, for one kind of processor. See complete/extra_trees.py, which has the same in NumPy: the same
 * splits, to the bit, since sums run over the rows in their order and the random numbers of a node depend on its path only. */

TARGET static uint64_t NAME(mix)(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

typedef struct {
    int64_t f, lead, leaf;
    double share; /* of the features, considered for a split */
    const double *features, *target; /* (m, lead): rows of f features with 0 after them, whole vectors; (m,) */
    int32_t *columns;                /* (lead,) work: those considered */
    double *low, *high, *at, *sum, *count; /* (lead,) work each */
} NAME(Grower);

typedef int64_t NAME(Mask) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(double)), may_alias));
#define UNROLLED static inline __attribute__((always_inline))

/* a where `take`, else b, lane by lane. */
TARGET UNROLLED NAME(Vector) NAME(either)(NAME(Mask) take, NAME(Vector) a, NAME(Vector) b) {
    return (NAME(Vector))((take & (NAME(Mask))a) | (~take & (NAME(Mask))b));
}

/* The least and largest value of some features, `wide` vectors from x on, in n rows. */
TARGET UNROLLED void NAME(range_of)(const int wide, const double *x, int64_t lead, const int32_t *rows, int64_t n, double *low,
                                    double *high) {
    NAME(Vector) least[VECTORS], largest[VECTORS];
    for (int v = 0; v < wide; v++) least[v] = largest[v] = *(const NAME(Vector) *)(x + rows[0] * lead + v * NAME(WIDTH));
    for (int64_t i = 1; i < n; i++) {
        const double *row = x + rows[i] * lead;
#pragma GCC unroll 4
        for (int v = 0; v < wide; v++) {
            const NAME(Vector) value = *(const NAME(Vector) *)(row + v * NAME(WIDTH));
#if VECTOR_BYTES == 64
            least[v] = _mm512_min_pd(value, least[v]);
            largest[v] = _mm512_max_pd(value, largest[v]);
#else
            least[v] = NAME(either)(value < least[v], value, least[v]);
            largest[v] = NAME(either)(value > largest[v], value, largest[v]);
#endif
        }
    }
    for (int v = 0; v < wide; v++) {
        *(NAME(Vector) *)(low + v * NAME(WIDTH)) = least[v];
        *(NAME(Vector) *)(high + v * NAME(WIDTH)) = largest[v];
    }
}

/* The sum of the target, and the number, of the rows that go left by each of some features, likewise. */
TARGET UNROLLED void NAME(sums_left)(const int wide, const NAME(Grower) *g, int64_t first, const int32_t *rows, int64_t n) {
    NAME(Vector) at[VECTORS], sum[VECTORS], count[VECTORS];
    const NAME(Vector) one = (NAME(Vector)){0} + 1.0;
    for (int v = 0; v < wide; v++) {
        at[v] = *(const NAME(Vector) *)(g->at + first + v * NAME(WIDTH));
        sum[v] = count[v] = (NAME(Vector)){0};
    }
    for (int64_t i = 0; i < n; i++) {
        const double *row = g->features + first + rows[i] * g->lead;
        const NAME(Vector) y = (NAME(Vector)){0} + g->target[rows[i]];
#pragma GCC unroll 4
        for (int v = 0; v < wide; v++) {
            const NAME(Vector) value = *(const NAME(Vector) *)(row + v * NAME(WIDTH));
#if VECTOR_BYTES == 64
            const __mmask8 goes = _mm512_cmp_pd_mask(value, at[v], _CMP_LE_OQ);
            sum[v] = _mm512_mask_add_pd(sum[v], goes, sum[v], y);
            count[v] = _mm512_mask_add_pd(count[v], goes, count[v], one);
#else
            const NAME(Mask) goes = value <= at[v];
            sum[v] += (NAME(Vector))(goes & (NAME(Mask))y);
            count[v] += (NAME(Vector))(goes & (NAME(Mask))one);
#endif
        }
    }
    for (int v = 0; v < wide; v++) {
        *(NAME(Vector) *)(g->sum + first + v * NAME(WIDTH)) = sum[v];
        *(NAME(Vector) *)(g->count + first + v * NAME(WIDTH)) = count[v];
    }
}
#undef UNROLLED

/* Call an unrolled function for all features, VECTORS vectors at a time: `first` is the first of them. */
#define BY_VECTORS(lead, call)                                                                    \
    for (int64_t first = 0; first < (lead); first += VECTORS * NAME(WIDTH)) switch (((lead) - first) / NAME(WIDTH)) { \
        case 1: call(1); break;                                                                   \
        case 2: call(2); break;                                                                   \
        case 3: call(3); break;                                                                   \
        default: call(VECTORS);                                                                   \
        }

/* Draw a threshold in at[] for each considered feature, listed in columns[]: NAN if a node of n rows has no two values of it. Returns how
 * many. Whole rows in vectors are faster than the considered features, unless these are few: then all are listed. */
TARGET static int64_t NAME(draw_thresholds)(const NAME(Grower) *g, const int32_t *rows, int64_t n, uint64_t key) {
    double *restrict low = g->low, *restrict high = g->high, *restrict at = g->at;
    int32_t *columns = g->columns;
    int64_t k = 0;
    if (g->share >= FEW_FEATURES) {
        k = g->lead;
        const double share = g->share;
#pragma omp simd
        for (int64_t j = 0; j < k; j++) {
            const uint64_t drawn = NAME(mix)(key ^ ((uint64_t)(j + 3) * 0xD1B54A32D192ED03u));
            const double uniform = (double)(int64_t)(drawn >> 11) * 0x1p-53;
            const double other = (double)(int64_t)(NAME(mix)(drawn) >> 11) * 0x1p-53;
            at[j] = share >= 1.0 || other < share ? uniform : NAN;
        }
#define RANGE(wide) NAME(range_of)(wide, g->features + first, k, rows, n, low + first, high + first)
        BY_VECTORS(k, RANGE)
#undef RANGE
    } else {
        for (int64_t j = 0; j < g->f; j++) {
            const uint64_t drawn = NAME(mix)(key ^ ((uint64_t)(j + 3) * 0xD1B54A32D192ED03u));
            if ((double)(NAME(mix)(drawn) >> 11) * 0x1p-53 >= g->share) continue;
            at[k] = (double)(drawn >> 11) * 0x1p-53;
            columns[k++] = (int32_t)j;
        }
        for (int64_t j = 0; j < k; j++) low[j] = INFINITY, high[j] = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            const double *restrict x = g->features + rows[i] * g->lead;
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
    const int64_t k = NAME(draw_thresholds)(g, rows, n, key);
    double *restrict low = g->low, *restrict at = g->at, *restrict sum = g->sum, *restrict count = g->count;
    const int32_t *columns = g->columns;
    if (g->share >= FEW_FEATURES) {
#define SUMS(wide) NAME(sums_left)(wide, g, first, rows, n)
        BY_VECTORS(k, SUMS)
#undef SUMS
    } else {
        for (int64_t j = 0; j < k; j++) sum[j] = count[j] = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double *restrict x = g->features + rows[i] * g->lead, y = g->target[rows[i]];
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

/* Put the rows of a node that go left before the others, both in their order; returns how many they are. moved (n,): work. */
TARGET static int64_t NAME(part_rows)(const NAME(Grower) *g, int32_t *rows, int64_t n, int32_t by, double threshold, int32_t *moved) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < n; i++) { /* no branches: which way a row goes cannot be foreseen */
        const int32_t row = rows[i];
        const int64_t goes = g->features[row * g->lead + by] <= threshold;
        rows[left] = moved[right] = row;
        left += goes;
        right += 1 - goes;
    }
    for (int64_t i = 0; i < right; i++) rows[left + i] = moved[i];
    return left;
}

/* Memory for so many bytes, where rows of whole vectors begin with a line of the cache; NULL without memory. */
static void *NAME(line_up)(size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }

/* The length of a row of k numbers in whole vectors. */
static inline int64_t NAME(padded)(int64_t k) { return (k + NAME(WIDTH) - 1) / NAME(WIDTH) * NAME(WIDTH); }

/* Copy features (m, f) into rows of whole vectors. work: 5 + m such rows. columns: as many numbers as one has. */
TARGET static NAME(Grower) NAME(grower_of)(int64_t m, int64_t f, int64_t leaf, double share, const double *features,
                                           const double *target, double *work, int32_t *columns) {
    const int64_t lead = NAME(padded)(f);
    double *rows = work + 5 * lead;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < lead; j++) rows[i * lead + j] = j < f ? features[i * f + j] : 0.0;
    for (int64_t j = 0; j < lead; j++) columns[j] = (int32_t)j;
    return (NAME(Grower)){f, lead, leaf, share, rows, target, columns, work, work + lead, work + 2 * lead, work + 3 * lead, work + 4 * lead};
}

/* Find the leaf of one tree, node[i], for each of `size` rows of features. They go down side by side: each waits for memory. A row that has
 * arrived stays without a branch: which rows have cannot be foreseen. */
TARGET static inline __attribute__((always_inline)) void NAME(go_down)(const int size, const double *const *x, const int32_t *feature,
                                                                       const double *number, const int32_t *child, int32_t *node) {
    int32_t at[ABREAST] = {0}, moving = 1;
    while (moving) {
        moving = 0;
#pragma GCC unroll 8
        for (int i = 0; i < size; i++) {
            const int32_t by = feature[at[i]], inner = ~(by >> 31); /* all ones, or 0 in a leaf, where by is -1 */
            const int32_t next = child[at[i]] + (x[i][by & inner] > number[at[i]]);
            at[i] = (next & inner) | (at[i] & ~inner);
            moving |= inner;
        }
    }
    for (int i = 0; i < size; i++) node[i] = at[i];
}

/* The same for `size` <= ABREAST rows. */
TARGET static void NAME(find_leaves)(const double *const *x, int64_t size, const int32_t *feature, const double *number,
                                     const int32_t *child, int32_t *node) {
    if (size == ABREAST) NAME(go_down)(ABREAST, x, feature, number, child, node);
    else
        for (int64_t i = 0; i < size; i++) NAME(go_down)(1, x + i, feature, number, child, node + i);
}

/* Add to out[i] (q,), for `size` <= ABREAST rows of features, the values (capacity, q) of the leaves of one tree. */
TARGET static void NAME(add_leaves)(const double *const *x, int64_t size, int64_t q, const int32_t *feature, const double *number,
                                    const int32_t *child, const double *values, double *const *out) {
    int32_t node[ABREAST];
    NAME(find_leaves)(x, size, feature, number, child, node);
    for (int64_t i = 0; i < size; i++)
        for (int64_t c = 0; c < q; c++) out[i][c] += values[node[i] * q + c];
}

/* The same for each of m rows of features (m, lead) that one tree has not seen; count them in `count` (m,). */
TARGET static void NAME(add_left_out)(int64_t m, int64_t lead, const double *features, const uint8_t *seen, int64_t q,
                                      const int32_t *feature, const double *number, const int32_t *child, const double *values,
                                      double *sum, double *count) {
    const double *x[ABREAST];
    double *out[ABREAST];
    int64_t lanes = 0;
    for (int64_t i = 0; i < m; i++) {
        if (!seen[i]) {
            x[lanes] = features + i * lead, out[lanes++] = sum + i * q;
            count[i] += 1.0;
        }
        if (lanes == ABREAST || (lanes && i == m - 1)) {
            NAME(add_leaves)(x, lanes, q, feature, number, child, values, out);
            lanes = 0;
        }
    }
}

/* Grow T trees. bags (T, s): the rows of each, ascending. keys (T,). feature, number, child (T, capacity): of a node, the feature
 * of its split (-1: a leaf), the threshold (of a leaf, its mean), and the left child, which the right one follows.
 * left_out_sum, left_out_count (m,): of the predictions of each row by the trees that did not see it. Returns 0; 1 without memory. */
TARGET EXPORT int NAME(grow_trees)(int64_t m, int64_t f, const double *features, const double *target, int64_t T, int64_t s,
                                   const int32_t *bags, const uint64_t *keys, int64_t leaf, double share, int64_t capacity,
                                   int32_t *feature, double *number, int32_t *child, double *left_out_sum,
                                   double *left_out_count) {
    const int64_t lead = NAME(padded)(f);
    double *work = NAME(line_up)(sizeof(double) * (5 + m) * lead + sizeof(int32_t) * (lead + 2 * s) + (size_t)m);
    uint64_t *key_of = malloc(sizeof(uint64_t) * capacity + 3 * sizeof(int64_t) * capacity);
    if (!work || !key_of) {
        free(work);
        free(key_of);
        return 1;
    }
    int64_t *first = (int64_t *)(key_of + capacity), *size = first + capacity, *stack = size + capacity;
    int32_t *rows = (int32_t *)(work + (5 + m) * lead), *moved = rows + s;
    uint8_t *seen = (uint8_t *)(moved + s + lead);
    const NAME(Grower) grower = NAME(grower_of)(m, f, leaf, share, features, target, work, moved + s);
    features = grower.features;
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
            const int64_t left = NAME(part_rows)(&grower, mine, n, by, threshold, moved), right = n - left;
            number[node] = threshold;
            child[node] = (int32_t)used;
            for (int64_t side = 0; side < 2; side++, used++) {
                first[used] = first[node] + (side ? left : 0);
                size[used] = side ? right : left;
                key_of[used] = NAME(mix)(key_of[node] + 1 + (uint64_t)side);
                stack[waiting++] = used;
            }
        }
        NAME(add_left_out)(m, lead, features, seen, 1, feature, number, child, number, left_out_sum, left_out_count);
    }
    free(work);
    free(key_of);
    return 0;
}

/* Add up the values (T, capacity, q) of the leaves of T trees for each of m rows of features (m, f) in out (m, q). */
TARGET EXPORT void NAME(sum_trees)(int64_t m, int64_t f, const double *features, int64_t q, int64_t T, int64_t capacity,
                                   const int32_t *feature, const double *number, const int32_t *child, const double *values,
                                   double *out) {
    const double *x[ABREAST];
    double *to[ABREAST];
    for (int64_t t = 0; t < T; t++, feature += capacity, number += capacity, child += capacity, values += capacity * q)
        for (int64_t i = 0; i < m; i += ABREAST) {
            const int64_t lanes = m - i < ABREAST ? m - i : ABREAST;
            for (int64_t k = 0; k < lanes; k++) x[k] = features + (i + k) * f, to[k] = out + (i + k) * q;
            NAME(add_leaves)(x, lanes, q, feature, number, child, values, to);
        }
}
