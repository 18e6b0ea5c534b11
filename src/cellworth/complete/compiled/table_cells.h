/* Cells of a table on their way to scaled units and back, for one REAL type and one kind of processor. See scaling.py. Holes are NaN.
 *
 * `order` (n,) says in which row of the user's table the i-th row stands; NULL: in the i-th. `offset` and `width` are (d,), both NULL
 * for values that stay as they are. */

/* The extremes so far of n cells that are not NaN, which compares as false. */
TARGET static inline void NAME(widen)(int64_t n, const REAL *restrict x, REAL *restrict low, REAL *restrict high) {
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        low[j] = x[j] < low[j] ? x[j] : low[j];
        high[j] = x[j] > high[j] ? x[j] : high[j];
    }
}

/* The extremes of the observed cells of each column of X (n, d): infinite, the wrong way round, where there are none. ABREAST rows are
 * one run of whole vectors, with extremes of their own in work (2, ABREAST, d). */
TARGET EXPORT void NAME(column_ranges)(int64_t n, int64_t d, const REAL *X, REAL *work, REAL *low, REAL *high) {
    const int64_t run = ABREAST * d;
    for (int64_t j = 0; j < run; j++) {
        work[j] = (REAL)INFINITY;
        work[run + j] = -(REAL)INFINITY;
    }
    int64_t i = 0;
    for (; i + ABREAST <= n; i += ABREAST) NAME(widen)(run, X + i * d, work, work + run);
    for (; i < n; i++) NAME(widen)(d, X + i * d, work, work + run);
    for (int64_t j = 0; j < d; j++) {
        low[j] = work[j];
        high[j] = work[run + j];
        for (int64_t k = j + d; k < run; k += d) {
            low[j] = work[k] < low[j] ? work[k] : low[j];
            high[j] = work[run + k] > high[j] ? work[run + k] : high[j];
        }
    }
}

/* n cells of one run: their scaled values, 0 in the holes, and which are observed. */
TARGET static inline void NAME(scale_run)(int64_t n, const REAL *restrict x, const REAL *restrict offset, const REAL *restrict width,
                                          REAL *restrict values, uint8_t *restrict observed) {
    if (offset) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            const int known = x[j] == x[j];
            values[j] = known ? (x[j] - offset[j]) / width[j] : 0;
            observed[j] = (uint8_t)known;
        }
    } else {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            const int known = x[j] == x[j];
            values[j] = known ? x[j] : 0;
            observed[j] = (uint8_t)known;
        }
    }
}

/* values, observed: (n, d), in `order`. */
EXPORT void NAME(scale_cells)(int64_t n, int64_t d, const REAL *X, const int64_t *order, const REAL *offset, const REAL *width,
                              REAL *values, uint8_t *observed) {
    if (!order && !offset) { /* all cells alike */
        NAME(scale_run)(n * d, X, NULL, NULL, values, observed);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        NAME(scale_run)(d, X + (order ? order[i] : i) * d, offset, width, values + i * d, observed + i * d);
}

/* Whether any of n cells is observed and differs from what was there before. */
TARGET static inline int NAME(any_differs)(int64_t n, const REAL *restrict x, const REAL *restrict before) {
    int differs = 0;
#pragma omp simd reduction(| : differs)
    for (int64_t j = 0; j < n; j++) differs |= (x[j] == x[j]) & (x[j] != before[j]);
    return differs;
}

/* changed (n,): which rows of X (n, d) have an observed cell that differs from what was there `before`. Most have none, so ABREAST
 * rows are compared at once. */
TARGET EXPORT void NAME(changed_rows)(int64_t n, int64_t d, const REAL *X, const REAL *before, uint8_t *changed) {
    for (int64_t begin = 0; begin < n; begin += ABREAST) {
        const int64_t rows = n - begin < ABREAST ? n - begin : ABREAST, at = begin * d;
        const int some = NAME(any_differs)(rows * d, X + at, before + at);
        for (int64_t i = 0; i < rows; i++)
            changed[begin + i] = (uint8_t)(some && NAME(any_differs)(d, X + at + i * d, before + at + i * d));
    }
}

/* Whether any of n cells is a hole and was none, or the other way round. */
TARGET static inline int NAME(any_opened_or_filled)(int64_t n, const REAL *restrict x, const uint8_t *restrict observed) {
    uint8_t differs = 0;
#pragma omp simd reduction(| : differs)
    for (int64_t j = 0; j < n; j++) differs |= (uint8_t)(x[j] == x[j]) ^ observed[j];
    return differs;
}

/* Brings values and observed (n, d), in `order`, up to date with the user's table X, given the completed table `before` for which they were
 * made with the same order and units. changed (n,), in `order`: as from changed_rows. Most rows are what they were. */
TARGET EXPORT void NAME(update_cells)(int64_t n, int64_t d, const REAL *X, const REAL *before, const int64_t *order,
                                      const REAL *offset, const REAL *width, REAL *values, uint8_t *observed, uint8_t *changed) {
    const int64_t abreast = order ? 1 : ABREAST;
    for (int64_t begin = 0; begin < n; begin += abreast) {
        const int64_t rows = n - begin < abreast ? n - begin : abreast, from = (order ? order[begin] : begin) * d;
        const int some = NAME(any_differs)(rows * d, X + from, before + from);
        const int scale = some || NAME(any_opened_or_filled)(rows * d, X + from, observed + begin * d);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t at = (begin + i) * d, of_row = from + i * d;
            changed[begin + i] = (uint8_t)(some && NAME(any_differs)(d, X + of_row, before + of_row));
            if (scale) NAME(scale_run)(d, X + of_row, offset, width, values + at, observed + at);
        }
    }
}

/* n cells of one run: what is observed in x, and elsewhere what is `filled`, back in the user's units. */
TARGET static inline void NAME(put_back_run)(int64_t n, const REAL *x, const REAL *offset, const REAL *width, const REAL *filled,
                                             REAL *out) {
    if (offset) {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            const REAL value = filled[j] * width[j] + offset[j];
            out[j] = x[j] == x[j] ? x[j] : value;
        }
    } else {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) out[j] = x[j] == x[j] ? x[j] : filled[j];
    }
}

/* filled: (n, d), in `order`; out: (n, d), in the order of the user's table X; may be `filled` itself if the orders are the same. */
EXPORT void NAME(put_back)(int64_t n, int64_t d, const REAL *X, const int64_t *order, const REAL *offset, const REAL *width,
                           const REAL *filled, REAL *out) {
    if (!order && !offset) { /* all cells alike */
        NAME(put_back_run)(n * d, X, NULL, NULL, filled, out);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = (order ? order[i] : i) * d;
        NAME(put_back_run)(d, X + to, offset, width, filled + i * d, out + to);
    }
}
