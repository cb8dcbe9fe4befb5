/* names.h: all codelets, in the order of the list; a line each. Included with CODELET(symbol) defined. */

/* stream.c */
CODELET(stream_triad)
/* stencils.c */
CODELET(jacobi_2d)
CODELET(rhs_3d)
/* line_solve.c */
CODELET(line_solve_z)
/* sparse.c */
CODELET(spmv_csr)
/* spectral.c */
CODELET(fft_pass)
/* clustering.c */
CODELET(kmeans_assignment)
/* facility.c */
CODELET(pgain)
/* graph.c */
CODELET(bfs_level)
/* reductions.c */
CODELET(histogram)
/* pointers.c */
CODELET(pointer_chase)
/* dense.c */
CODELET(matrix_product)
