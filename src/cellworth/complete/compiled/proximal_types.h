/* What a pass is given, for one REAL type. */
typedef struct {
    void (*gemm)(char *, char *, int *, int *, int *, REAL *, REAL *, int *, REAL *, int *, REAL *, REAL *, int *);
    void (*gemv)(char *, int *, int *, REAL *, REAL *, int *, REAL *, int *, REAL *, REAL *, int *);
    void (*syrk)(char *, char *, int *, int *, REAL *, REAL *, int *, REAL *, REAL *, int *);
} TYPE(Blas);

/* A linear model and its loss; coef is (q, d), C-ordered. */
typedef struct {
    int64_t q, loss;
    double weight;
    const REAL *coef, *intercept;
} TYPE(Model);

/* Rows near the solution, of which a pass forms the first iterate on its way: rows of `left` (n, r) times `right` (r, d), those of
 * `changed` (c,) replaced by `updated` (c, d); then some steps with the operator (d, d) of a predicted shape, see near_rows.h. */
typedef struct {
    int64_t r, n_changed, steps;
    double relaxation;
    const REAL *left, *right;
    const int64_t *changed;
    const REAL *updated, *operator_;
    double *pull; /* sum over all cells of (a - x) x for the last step x = a P */
} TYPE(Near);
