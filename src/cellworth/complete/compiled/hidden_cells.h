/* The hidden cells of rows by conjugate gradients, for one REAL type and one kind of processor. See solver/sampled_start.py.
 * Rows of scratch arrays are `wide` long, a multiple of ROW_UNIT, with 0 after their d cells: loops over them leave no rest. */

/* One step in each row, by its own lengths; `moved` holds direction @ product. */
TARGET static void NAME(conjugate_step)(int64_t rows, int64_t wide, const REAL *restrict holes, REAL *restrict moved,
                                        REAL *restrict direction, REAL *restrict residual, REAL *restrict found,
                                        REAL *restrict squares) {
    wide = wide / ROW_UNIT * ROW_UNIT;
    for (int64_t i = 0; i < rows; i++, holes += wide, moved += wide, direction += wide, residual += wide, found += wide) {
        REAL curvature = 0, square = 0;
#pragma omp simd reduction(+ : curvature)
        for (int64_t j = 0; j < wide; j++) {
            moved[j] *= holes[j];
            curvature += direction[j] * moved[j];
        }
        const REAL length = curvature > 0 ? squares[i] / curvature : 0;
#pragma omp simd reduction(+ : square)
        for (int64_t j = 0; j < wide; j++) {
            found[j] += length * direction[j];
            residual[j] -= length * moved[j];
            square += residual[j] * residual[j];
        }
        const REAL share = squares[i] > 0 ? square / squares[i] : 0;
        squares[i] = square;
#pragma omp simd
        for (int64_t j = 0; j < wide; j++) direction[j] = residual[j] + share * direction[j];
    }
}

/* The residuals of rows at 0, from `residual` = known @ product; also the first directions. */
TARGET static void NAME(first_residuals)(int64_t rows, int64_t d, int64_t wide, const uint8_t *restrict seen, REAL *restrict holes,
                                         REAL *restrict direction, REAL *restrict residual, REAL *restrict found,
                                         REAL *restrict squares) {
    for (int64_t i = 0; i < rows; i++) {
        REAL square = 0;
#pragma omp simd reduction(+ : square)
        for (int64_t j = 0; j < d; j++) {
            const REAL hole = (REAL)(1 - seen[i * d + j]), r = -hole * residual[i * wide + j];
            holes[i * wide + j] = hole;
            residual[i * wide + j] = direction[i * wide + j] = r;
            found[i * wide + j] = 0;
            square += r * r;
        }
        squares[i] = square;
    }
}

/* known (n, d): 0 in the holes, which get what stands there after some steps. Returns 0, or 1 without memory. */
EXPORT int NAME(solve_in_holes)(const TYPE(Blas) * blas, int64_t n, int64_t d, int64_t steps, const REAL *product, REAL *known,
                                const uint8_t *observed) {
    const int64_t most = CHUNK_CELLS / d > 8 ? CHUNK_CELLS / d : 8, wide = (d + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT, size = most * wide;
    REAL *scratch = calloc(5 * size + most, sizeof(REAL));
    if (!scratch) return 1;
    REAL *moved = scratch, *direction = scratch + size, *residual = scratch + 2 * size;
    REAL *holes = scratch + 3 * size, *found = scratch + 4 * size, *squares = scratch + 5 * size;
    for (int64_t begin = 0; begin < n; begin += most) {
        const int64_t rows = n - begin < most ? n - begin : most;
        REAL *cells = known + begin * d;
        NAME(multiply)(blas, rows, d, cells, d, product, residual, wide);
        NAME(first_residuals)(rows, d, wide, observed + begin * d, holes, direction, residual, found, squares);
        for (int64_t s = 0; s < steps; s++) {
            NAME(multiply)(blas, rows, d, direction, wide, product, moved, wide);
            NAME(conjugate_step)(rows, wide, holes, moved, direction, residual, found, squares);
        }
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < d; j++) cells[i * d + j] += found[i * wide + j];
    }
    free(scratch);
    return 0;
}
