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
