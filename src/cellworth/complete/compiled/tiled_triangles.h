/* Symmetric positive definite matrices, as many at once as a vector has numbers, one in each lane, for one kind of processor.
 *
 * Their lower triangles are kept in tiles of TILE x TILE vectors, and every product of two tiles stays in registers, so that few vectors
 * are loaded for many multiplications. See pattern_systems.h, which undefines TILE and the other names. */
#define TILE (VECTOR_BYTES == 64 ? 4 : 3) /* with what is multiplied, most of the registers */
#define TILED (TILE * TILE)
#define UNROLLED static inline __attribute__((always_inline))

/* Where a row of the triangle begins, and a tile, in vectors. */
UNROLLED int64_t NAME(tile_at)(int64_t I, int64_t J) { return (I * (I + 1) / 2 + J) * TILED; }
UNROLLED int64_t NAME(row_at)(int64_t i) { return NAME(tile_at)(i / TILE, 0) + i % TILE * TILE; }

TARGET UNROLLED NAME(Vector) NAME(root)(NAME(Vector) x) {
#if VECTOR_BYTES == 64
    return (NAME(Vector))_mm512_sqrt_pd((__m512d)x);
#elif VECTOR_BYTES == 32
    return (NAME(Vector))_mm256_sqrt_pd((__m256d)x);
#else
    for (int l = 0; l < NAME(WIDTH); l++) x[l] = sqrt(x[l]);
    return x;
#endif
}

/* tile += sign * sum over s of X(a, s) Y(b, s), where X(a, s) is X[a * down_x + s * next_x], and Y likewise. */
TARGET UNROLLED void NAME(add_product)(double sign, const NAME(Vector) *X, int down_x, int next_x, const NAME(Vector) *Y, int down_y,
                                       int next_y, NAME(Vector) (*tile)[TILE]) {
#pragma GCC unroll 4
    for (int s = 0; s < TILE; s++) {
        NAME(Vector) y[TILE];
#pragma GCC unroll 4
        for (int b = 0; b < TILE; b++) y[b] = Y[b * down_y + s * next_y];
#pragma GCC unroll 4
        for (int a = 0; a < TILE; a++) {
            const NAME(Vector) x = X[a * down_x + s * next_x];
#pragma GCC unroll 4
            for (int b = 0; b < TILE; b++) tile[a][b] = sign > 0 ? tile[a][b] + x * y[b] : tile[a][b] - x * y[b];
        }
    }
}

TARGET UNROLLED void NAME(load_tile)(const NAME(Vector) *from, NAME(Vector) (*tile)[TILE]) {
#pragma GCC unroll 16
    for (int e = 0; e < TILED; e++) tile[e / TILE][e % TILE] = from[e];
}

TARGET UNROLLED void NAME(store_tile)(NAME(Vector) (*tile)[TILE], NAME(Vector) *to) {
#pragma GCC unroll 16
    for (int e = 0; e < TILED; e++) to[e] = tile[e / TILE][e % TILE];
}

/* tile = tile L^-T for a factor's tile on the diagonal, which has the inverses of its diagonal. */
TARGET UNROLLED void NAME(times_inverse)(const NAME(Vector) *L, NAME(Vector) (*tile)[TILE]) {
#pragma GCC unroll 4
    for (int p = 0; p < TILE; p++)
#pragma GCC unroll 4
        for (int a = 0; a < TILE; a++) {
#pragma GCC unroll 4
            for (int q = 0; q < p; q++) tile[a][p] -= tile[a][q] * L[p * TILE + q];
            tile[a][p] *= L[p * TILE + p];
        }
}

/* Replace the triangles of `tiles` rows of tiles by their Cholesky factors, with the inverses on the diagonal. Adds the log-determinants
 * to `logarithm` (WIDTH,); returns whether all matrices are positive definite. */
TARGET static int NAME(factor)(NAME(Vector) *S, int64_t tiles, double *logarithm) {
    NAME(Vector) product = 1.0 - (NAME(Vector)){0}, tile[TILE][TILE];
    int positive = 1;
    for (int64_t J = 0; J < tiles; J++) {
        NAME(Vector) *pivots = S + NAME(tile_at)(J, J);
        for (int64_t I = J; I < tiles; I++) {
            const NAME(Vector) *row = S + NAME(tile_at)(I, 0), *above = S + NAME(tile_at)(J, 0);
            NAME(load_tile)(row + J * TILED, tile);
            for (int64_t t = 0; t < J; t++)
                NAME(add_product)(-1, row + t * TILED, TILE, 1, above + t * TILED, TILE, 1, tile);
            if (I == J) {
#pragma GCC unroll 4
                for (int p = 0; p < TILE; p++) {
                    for (int l = 0; l < NAME(WIDTH); l++) positive &= tile[p][p][l] > 0;
                    product *= tile[p][p];
                    tile[p][p] = 1.0 / NAME(root)(tile[p][p]);
#pragma GCC unroll 4
                    for (int i = p + 1; i < TILE; i++) tile[i][p] *= tile[p][p];
#pragma GCC unroll 4
                    for (int i = p + 1; i < TILE; i++)
#pragma GCC unroll 4
                        for (int j = p + 1; j <= i; j++) tile[i][j] -= tile[i][p] * tile[j][p];
                }
                for (int l = 0; l < NAME(WIDTH); l++)
                    if (!(product[l] > 1e-150 && product[l] < 1e150)) {
                        logarithm[l] += log(product[l]);
                        product[l] = 1.0;
                    }
            } else {
                NAME(times_inverse)(pivots, tile);
            }
            NAME(store_tile)(tile, S + NAME(tile_at)(I, J));
        }
        if (!positive) return 0;
    }
    for (int l = 0; l < NAME(WIDTH); l++) logarithm[l] += log(product[l]);
    return 1;
}

/* Replace Cholesky factors by their inverses, with zeros above the diagonals of the tiles on it. */
TARGET static void NAME(invert_factor)(NAME(Vector) *S, int64_t tiles) {
    NAME(Vector) tile[TILE][TILE];
    for (int64_t J = 0; J < tiles; J++) {
        NAME(Vector) *L = S + NAME(tile_at)(J, J);
#pragma GCC unroll 4
        for (int p = 0; p < TILE; p++)
#pragma GCC unroll 4
            for (int i = 0; i < TILE; i++) {
                tile[i][p] = i == p ? L[p * TILE + p] : (NAME(Vector)){0};
#pragma GCC unroll 4
                for (int q = p; q < i; q++) tile[i][p] -= L[i * TILE + q] * tile[q][p];
                if (i > p) tile[i][p] *= L[i * TILE + i];
            }
        NAME(store_tile)(tile, L);
        for (int64_t I = J + 1; I < tiles; I++) {
            const NAME(Vector) *row = S + NAME(tile_at)(I, 0);
#pragma GCC unroll 16
            for (int e = 0; e < TILED; e++) tile[e / TILE][e % TILE] = (NAME(Vector)){0};
            for (int64_t t = J; t < I; t++)
                NAME(add_product)(-1, row + t * TILED, TILE, 1, S + NAME(tile_at)(t, J), 1, TILE, tile);
            L = S + NAME(tile_at)(I, I);
#pragma GCC unroll 4
            for (int p = 0; p < TILE; p++)
#pragma GCC unroll 4
                for (int b = 0; b < TILE; b++) {
#pragma GCC unroll 4
                    for (int q = 0; q < p; q++) tile[p][b] -= L[p * TILE + q] * tile[q][b];
                    tile[p][b] *= L[p * TILE + p];
                }
            NAME(store_tile)(tile, S + NAME(tile_at)(I, J));
        }
    }
}

/* Replace the inverses of factors, M, by those of the matrices, M^T M; the tiles on the diagonal are whole. */
TARGET static void NAME(square_factor)(NAME(Vector) *S, int64_t tiles) {
    NAME(Vector) tile[TILE][TILE];
    for (int64_t I = 0; I < tiles; I++)
        for (int64_t J = 0; J <= I; J++) {
#pragma GCC unroll 16
            for (int e = 0; e < TILED; e++) tile[e / TILE][e % TILE] = (NAME(Vector)){0};
            for (int64_t t = I; t < tiles; t++)
                NAME(add_product)(1, S + NAME(tile_at)(t, I), 1, TILE, S + NAME(tile_at)(t, J), 1, TILE, tile);
            NAME(store_tile)(tile, S + NAME(tile_at)(I, J));
        }
}

/* y = S x for the symmetric matrices of `tiles` rows of tiles. */
TARGET static void NAME(times_symmetric)(const NAME(Vector) *S, int64_t tiles, const NAME(Vector) *x, NAME(Vector) *y) {
    for (int64_t I = 0; I < tiles; I++) {
        NAME(Vector) sum[TILE] = {{0}};
        for (int64_t J = 0; J < tiles; J++) {
            const NAME(Vector) *tile = S + (J <= I ? NAME(tile_at)(I, J) : NAME(tile_at)(J, I)), *from = x + J * TILE;
            const int64_t down = J <= I ? TILE : 1, next = J <= I ? 1 : TILE;
#pragma GCC unroll 4
            for (int b = 0; b < TILE; b++)
#pragma GCC unroll 4
                for (int a = 0; a < TILE; a++) sum[a] += tile[a * down + b * next] * from[b];
        }
#pragma GCC unroll 4
        for (int a = 0; a < TILE; a++) y[I * TILE + a] = sum[a];
    }
}
