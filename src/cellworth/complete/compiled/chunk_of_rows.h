/* A chunk of rows as it is read, for one kind of processor: its cells, which of them are known, the order in which rows are solved,
 * and their residuals. Used by streamed_step.h and labelled_step.h. */
#ifndef HASH_BITS
#define CHUNK_BYTES (1 << 17) /* of the residuals of a chunk: with the products, and the cells of the next one, about half of L2 */
#define HASH_BITS 10
#define MOST_COLUMNS 64  /* bits of a key */
#define OBSERVED_SIDE 65 /* first bucket of the rows that are solved from their observed cells */
#define N_BUCKETS 98     /* at most half of the columns are known there */
#define TURNED_ROWS 16   /* of columns that are put into rows at once */
#define LANES ((int)(64 / sizeof(REAL))) /* systems that are solved at once */

/* The cells (n, d) of a table, floats or doubles: in rows, NaN in the holes, or in columns. */
typedef struct {
    int64_t d;
    int64_t single_precision;
    const void *rows;            /* (n, d); NULL: in columns */
    const void *const *columns;  /* d columns (n,) */
    const uint8_t *const *known; /* for each: bits, 0 in the holes; NULL without any */
    const int64_t *first_bit;    /* for each: that of its first row */
} Cells;

static inline uint64_t hash_of(uint64_t key) { return key * 0x9E3779B97F4A7C15ULL >> (64 - HASH_BITS); }

/* Replace n counts by the sums of those before. */
static void sums_before(int64_t n, int32_t *counts) {
    for (int32_t k = 0, before = 0; k < n; k++) {
        const int32_t here = counts[k];
        counts[k] = before;
        before += here;
    }
}

/* Sort n row numbers by their buckets and, within these, by a hash of their keys, so that rows with one key are together. Where two
 * keys have one hash, their rows may alternate. order: gets the numbers; ends: where each bucket ends in it; work (n,). */
static void sort_rows(int64_t n, const uint64_t *keys, const uint8_t *bucket, int32_t *order, int32_t *ends, int32_t *work) {
    int32_t of_hash[1 << HASH_BITS] = {0};
    for (int64_t k = 0; k < N_BUCKETS; k++) ends[k] = 0;
    for (int64_t i = 0; i < n; i++) {
        of_hash[hash_of(keys[i])]++;
        ends[bucket[i]]++;
    }
    sums_before(1 << HASH_BITS, of_hash);
    sums_before(N_BUCKETS, ends);
    for (int64_t i = 0; i < n; i++) work[of_hash[hash_of(keys[i])]++] = (int32_t)i;
    for (int64_t s = 0; s < n; s++) order[ends[bucket[work[s]]]++] = work[s];
}

/* The bits `first` to `first + n` of a bitmap, n from 1 to TURNED_ROWS; others may follow. */
static inline uint32_t bits_at(const uint8_t *bits, int64_t first, int64_t n) {
    const int64_t byte = first >> 3, last = (first + n - 1) >> 3;
    uint32_t found = bits[byte];
    if (last > byte) found |= (uint32_t)bits[byte + 1] << 8;
    if (last > byte + 1) found |= (uint32_t)bits[byte + 2] << 16;
    return found >> (first & 7);
}
#endif

/* Write n rows of columns, from the row `start` on, into `out` (n, d), NaN in the holes: TURNED_ROWS of all columns at a time, of which
 * squares of four by four are turned in registers. */
TARGET static void NAME(singles_in_rows)(const Cells *cells, int64_t start, int64_t n, float *restrict out) {
    const int64_t d = cells->d;
    float part[MOST_COLUMNS][TURNED_ROWS] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i += TURNED_ROWS, out += TURNED_ROWS * d) {
        const int64_t m = n - i < TURNED_ROWS ? n - i : TURNED_ROWS;
        for (int64_t j = 0; j < d; j++) {
            const float *from = (const float *)cells->columns[j] + start + i;
            const uint32_t known = cells->known[j] ? bits_at(cells->known[j], cells->first_bit[j] + start + i, m) : ~0U;
#if VECTOR_BYTES == 64
            const __mmask16 there = (__mmask16)(known & ((1U << m) - 1));
            _mm512_store_ps(part[j], _mm512_mask_loadu_ps(_mm512_set1_ps(NAN), there, from));
#else
            for (int64_t r = 0; r < m; r++) part[j][r] = known >> r & 1 ? from[r] : NAN;
#endif
        }
        int64_t j = 0;
#if OWN_PRODUCTS
        for (; j + 4 <= d && m == TURNED_ROWS; j += 4)
            for (int64_t r = 0; r < TURNED_ROWS; r += 4) {
                __m128 a = _mm_load_ps(part[j] + r), b = _mm_load_ps(part[j + 1] + r);
                __m128 c = _mm_load_ps(part[j + 2] + r), e = _mm_load_ps(part[j + 3] + r);
                _MM_TRANSPOSE4_PS(a, b, c, e);
                _mm_storeu_ps(out + r * d + j, a);
                _mm_storeu_ps(out + (r + 1) * d + j, b);
                _mm_storeu_ps(out + (r + 2) * d + j, c);
                _mm_storeu_ps(out + (r + 3) * d + j, e);
            }
#endif
        for (; j < d; j++)
            for (int64_t r = 0; r < m; r++) out[r * d + j] = part[j][r];
    }
}

TARGET static void NAME(doubles_in_rows)(const Cells *cells, int64_t start, int64_t n, double *restrict out) {
    const int64_t d = cells->d;
    for (int64_t i = 0; i < n; i += TURNED_ROWS, out += TURNED_ROWS * d) {
        const int64_t m = n - i < TURNED_ROWS ? n - i : TURNED_ROWS;
        for (int64_t j = 0; j < d; j++) {
            const double *from = (const double *)cells->columns[j] + start + i;
            const uint32_t known = cells->known[j] ? bits_at(cells->known[j], cells->first_bit[j] + start + i, m) : ~0U;
            for (int64_t r = 0; r < m; r++) out[r * d + j] = known >> r & 1 ? from[r] : NAN;
        }
    }
}

/* Ask for the cells of TURNED_ROWS rows of columns from the row `start` on, which will be needed soon. */
static inline void NAME(fetch_ahead)(const Cells *cells, int64_t start) {
    if (!cells->columns) return;
    const int64_t bytes = start * (cells->single_precision ? 4 : 8);
    for (int64_t j = 0; j < cells->d; j++) __builtin_prefetch((const char *)cells->columns[j] + bytes);
}

/* Return n rows from the row `start` on: where they are, or in `work` (n, d). */
TARGET static const void *NAME(rows_at)(const Cells *cells, int64_t start, int64_t n, void *work) {
    const int64_t before = start * cells->d;
    if (cells->rows) return cells->single_precision ? (const void *)((const float *)cells->rows + before) : (const double *)cells->rows + before;
    if (cells->single_precision) NAME(singles_in_rows)(cells, start, n, work);
    else NAME(doubles_in_rows)(cells, start, n, work);
    return work;
}

/* Bit j says whether x[j] is a number, for `n` singles or doubles. */
#if VECTOR_BYTES == 64
TARGET static inline uint64_t NAME(known_singles)(const float *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j += 16) {
        const __mmask16 there = (__mmask16)(n - j < 16 ? (1 << (n - j)) - 1 : 0xffff);
        const __m512 cells = _mm512_maskz_loadu_ps(there, x + j);
        key |= (uint64_t)_mm512_mask_cmp_ps_mask(there, cells, cells, _CMP_ORD_Q) << j;
    }
    return key;
}

TARGET static inline uint64_t NAME(known_doubles)(const double *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j += 8) {
        const __mmask8 there = (__mmask8)(n - j < 8 ? (1 << (n - j)) - 1 : 0xff);
        const __m512d cells = _mm512_maskz_loadu_pd(there, x + j);
        key |= (uint64_t)_mm512_mask_cmp_pd_mask(there, cells, cells, _CMP_ORD_Q) << j;
    }
    return key;
}
#else
TARGET static inline uint64_t NAME(known_singles)(const float *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j++) key |= (uint64_t)(x[j] == x[j]) << j;
    return key;
}

TARGET static inline uint64_t NAME(known_doubles)(const double *x, int64_t n) {
    uint64_t key = 0;
    for (int64_t j = 0; j < n; j++) key |= (uint64_t)(x[j] == x[j]) << j;
    return key;
}
#endif

/* Find the keys of n rows x (n, d): bit j says whether cell j is known; and their buckets: the number of holes or, if that is larger,
 * OBSERVED_SIDE and the number of known cells. Returns the number of known cells. */
TARGET static int64_t NAME(find_patterns)(int single_precision, int64_t n, int64_t d, const void *x, uint64_t *keys, uint8_t *bucket) {
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key =
            single_precision ? NAME(known_singles)((const float *)x + i * d, d) : NAME(known_doubles)((const double *)x + i * d, d);
        const int known = __builtin_popcountll(key), open = (int)d - known;
        keys[i] = key;
        bucket[i] = (uint8_t)(open <= known ? open : OBSERVED_SIDE + known);
        total += known;
    }
    return total;
}

/* How cells of d columns become residuals: (x - offset - rest) * unit - mean. In single precision, an offset that is large beside the
 * width of its column would lose its last digits, which are the rest. */
typedef struct {
    REAL offset[MOST_COLUMNS], rest[MOST_COLUMNS], unit[MOST_COLUMNS], mean[MOST_COLUMNS];
} NAME(Scale);

static NAME(Scale) NAME(scale_of)(int64_t d, const double *offset, const double *width, const double *mean) {
    NAME(Scale) scale;
    for (int64_t j = 0; j < d; j++) {
        scale.offset[j] = (REAL)offset[j];
        scale.rest[j] = (REAL)(offset[j] - (double)scale.offset[j]);
        scale.unit[j] = (REAL)(1.0 / width[j]);
        scale.mean[j] = mean ? (REAL)mean[j] : 0;
    }
    return scale;
}

/* Write the residual of each cell of a row x (d,), 0 in the holes. Singles stay so only from singles. */
#if SINGLE
TARGET static inline void NAME(residuals)(int64_t d, const float *restrict x, uint64_t key, const NAME(Scale) *restrict scale,
                                          float *restrict to) {
#if VECTOR_BYTES == 64
    for (int64_t j = 0; j < d; j += 16, key >>= 16) {
        const __mmask16 there = (__mmask16)(d - j < 16 ? (1 << (d - j)) - 1 : 0xffff), known = (__mmask16)key;
        const __m512 away = _mm512_maskz_loadu_ps(known, x + j) - _mm512_maskz_loadu_ps(known, scale->offset + j) -
                            _mm512_maskz_loadu_ps(known, scale->rest + j);
        const __m512 value = _mm512_maskz_fmsub_ps(known, away, _mm512_maskz_loadu_ps(known, scale->unit + j),
                                                   _mm512_maskz_loadu_ps(known, scale->mean + j));
        _mm512_mask_storeu_ps(to + j, there, value);
    }
#else
    (void)key;
#pragma omp simd
    for (int64_t j = 0; j < d; j++) {
        const float value = (x[j] - scale->offset[j] - scale->rest[j]) * scale->unit[j] - scale->mean[j];
        to[j] = __builtin_isunordered(value, value) ? 0.0f : value;
    }
#endif
}
#else
TARGET static inline void NAME(residuals)(int single_precision, int64_t d, const void *x, uint64_t key, const NAME(Scale) *scale,
                                          double *restrict to) {
    const double *offset = scale->offset, *unit = scale->unit, *mean = scale->mean;
#if VECTOR_BYTES == 64
    for (int64_t j = 0; j < d; j += 8, key >>= 8) {
        const __mmask8 there = (__mmask8)(d - j < 8 ? (1 << (d - j)) - 1 : 0xff);
        const __m512d cells = single_precision ? _mm512_cvtps_pd(_mm256_maskz_loadu_ps(there, (const float *)x + j))
                                               : _mm512_maskz_loadu_pd(there, (const double *)x + j);
        const __m512d away = cells - _mm512_maskz_loadu_pd(there, offset + j);
        const __m512d value =
            _mm512_maskz_fmsub_pd((__mmask8)key, away, _mm512_maskz_loadu_pd(there, unit + j), _mm512_maskz_loadu_pd(there, mean + j));
        _mm512_mask_storeu_pd(to + j, there, value);
    }
#else
    (void)key;
    if (single_precision)
#pragma omp simd
        for (int64_t j = 0; j < d; j++) {
            const double value = ((double)((const float *)x)[j] - offset[j]) * unit[j] - mean[j];
            to[j] = __builtin_isunordered(value, value) ? 0.0 : value;
        }
    else
#pragma omp simd
        for (int64_t j = 0; j < d; j++) {
            const double value = (((const double *)x)[j] - offset[j]) * unit[j] - mean[j];
            to[j] = __builtin_isunordered(value, value) ? 0.0 : value;
        }
#endif
}
#endif

/* sums[j] += R[0, j] + R[1, j] + ... for j up to `width`, at most 8, of n rows that are c apart: four sums side by side. */
TARGET static inline __attribute__((always_inline)) void NAME(add_few)(const int width, int64_t n, int64_t c, const REAL *restrict R,
                                                                       double *restrict sums) {
    REAL side[4][8] = {{0}};
    const int64_t whole = n / 4 * 4;
    for (int64_t s = 0; s < whole; s += 4)
        for (int u = 0; u < 4; u++)
#pragma omp simd
            for (int j = 0; j < width; j++) side[u][j] += R[(s + u) * c + j];
    for (int64_t s = whole; s < n; s++)
        for (int j = 0; j < width; j++) side[0][j] += R[s * c + j];
    for (int j = 0; j < width; j++) sums[j] += (double)((side[0][j] + side[1][j]) + (side[2][j] + side[3][j]));
}

/* sums (c,) += the sum of the n rows R (n, c). */
TARGET static void NAME(add_rows)(int64_t n, int64_t c, const REAL *R, double *sums) {
    int64_t j = 0;
    for (; j + 8 <= c; j += 8) NAME(add_few)(8, n, c, R + j, sums + j);
    for (; j + 4 <= c; j += 4) NAME(add_few)(4, n, c, R + j, sums + j);
    for (; j < c; j++) NAME(add_few)(1, n, c, R + j, sums + j);
}
