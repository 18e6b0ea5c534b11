/* The hidden cells of rows by conjugate gradients, for one REAL type and one kind of processor. See solver/sampled_start.py.
 * A row stands in each lane of the vectors: lengths of its own then need no sums across a vector, and no cell is padded. */

/* `tall` columns from `first` on of the rows times the symmetric product (d, d). */
TARGET static inline __attribute__((always_inline)) void NAME(columns_in_lanes)(int tall, int64_t first, int64_t d,
                                                                                const REAL *restrict product,
                                                                                const NAME(Vector) *restrict rows,
                                                                                NAME(Vector) *restrict out) {
    NAME(Vector) sums[ABREAST] = {{0}};
    for (int64_t k = 0; k < d; k++)
#pragma GCC unroll 8
        for (int i = 0; i < tall; i++) sums[i] += product[(first + i) * d + k] * rows[k];
#pragma GCC unroll 8
    for (int i = 0; i < tall; i++) out[first + i] = sums[i];
}

/* out (d,) = the rows (d,) times the product; the last columns may be computed twice, to the same bits. */
TARGET static void NAME(product_in_lanes)(int64_t d, const REAL *product, const NAME(Vector) *rows, NAME(Vector) *out) {
    for (int64_t j = 0; j + ABREAST <= d; j += ABREAST) NAME(columns_in_lanes)(ABREAST, j, d, product, rows, out);
    if (d >= ABREAST && d % ABREAST) NAME(columns_in_lanes)(ABREAST, d - ABREAST, d, product, rows, out);
    for (int64_t j = 0; d < ABREAST && j < d; j++) NAME(columns_in_lanes)(1, j, d, product, rows, out);
}

/* Lane by lane above / below, or 0 where the latter is not positive. */
TARGET static inline NAME(Vector) NAME(ratio)(NAME(Vector) above, NAME(Vector) below) {
    REAL a[NAME(WIDTH)], b[NAME(WIDTH)];
    *(NAME(Vector) *)a = above;
    *(NAME(Vector) *)b = below;
#pragma omp simd
    for (int i = 0; i < NAME(WIDTH); i++) a[i] = b[i] > 0 ? a[i] / b[i] : 0;
    return *(NAME(Vector) *)a;
}

/* Steps in each row; on entry `found` is 0 and `residual` what it leaves, 0 where there is no hole. */
TARGET static void NAME(conjugate_steps)(int64_t d, int64_t steps, const REAL *product, const NAME(Vector) *restrict holes,
                                         NAME(Vector) *restrict moved, NAME(Vector) *restrict direction,
                                         NAME(Vector) *restrict residual, NAME(Vector) *restrict found) {
    NAME(Vector) square = {0};
    for (int64_t j = 0; j < d; j++) {
        direction[j] = residual[j];
        square += residual[j] * residual[j];
    }
    for (int64_t s = 0; s < steps; s++) {
        NAME(Vector) curvature = {0}, before = square;
        NAME(product_in_lanes)(d, product, direction, moved);
        for (int64_t j = 0; j < d; j++) {
            moved[j] *= holes[j];
            curvature += direction[j] * moved[j];
        }
        const NAME(Vector) length = NAME(ratio)(square, curvature);
        square = (NAME(Vector)){0};
        for (int64_t j = 0; j < d; j++) {
            found[j] += length * direction[j];
            residual[j] -= length * moved[j];
            square += residual[j] * residual[j];
        }
        const NAME(Vector) share = NAME(ratio)(square, before);
        for (int64_t j = 0; j < d; j++) direction[j] = residual[j] + share * direction[j];
    }
}

/* known (n, d): 0 in the holes, which get what stands there after some steps. Returns 0, or 1 without memory. */
TARGET EXPORT int NAME(solve_in_holes)(int64_t n, int64_t d, int64_t steps, const REAL *product, REAL *known, const uint8_t *observed) {
    NAME(Vector) *scratch = aligned_alloc(64, (5 * d * sizeof(NAME(Vector)) + 63) / 64 * 64);
    if (!scratch) return 1;
    NAME(Vector) *holes = scratch, *moved = holes + d, *direction = moved + d, *residual = direction + d, *found = residual + d;
    for (int64_t begin = 0; begin < n; begin += NAME(WIDTH)) {
        const int64_t rows = n - begin < NAME(WIDTH) ? n - begin : NAME(WIDTH);
        REAL *hole = (REAL *)holes, *cell = (REAL *)found;
        for (int64_t lane = 0; lane < NAME(WIDTH); lane++) { /* the lanes that are left over repeat the last row */
            const int64_t at = (begin + (lane < rows ? lane : rows - 1)) * d;
            for (int64_t j = 0; j < d; j++) {
                hole[j * NAME(WIDTH) + lane] = (REAL)(1 - observed[at + j]);
                cell[j * NAME(WIDTH) + lane] = known[at + j];
            }
        }
        NAME(product_in_lanes)(d, product, found, residual);
        for (int64_t j = 0; j < d; j++) {
            residual[j] *= -holes[j];
            found[j] = (NAME(Vector)){0};
        }
        NAME(conjugate_steps)(d, steps, product, holes, moved, direction, residual, found);
        for (int64_t lane = 0; lane < rows; lane++)
            for (int64_t j = 0; j < d; j++) known[(begin + lane) * d + j] += cell[j * NAME(WIDTH) + lane];
    }
    free(scratch);
    return 0;
}
