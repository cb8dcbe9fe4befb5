/* names.h: all codelets, in the order of the list, a family a paragraph. Included with CODELET(symbol)
 * defined. */

/* stream.c, stream_teams.c, transfer.c */
CODELET(stream_copy)
CODELET(stream_scale)
CODELET(stream_add)
CODELET(stream_triad)
CODELET(nested_stream)
CODELET(twisted_stream)
CODELET(imbalanced_stream)
CODELET(memory_copy)
CODELET(memory_set)

/* stencils.c, sweeps.c, relaxation.c, heat.c, speckle.c */
CODELET(jacobi_2d)
CODELET(jacobi_2d_9)
CODELET(jacobi_3d_7)
CODELET(jacobi_3d_27)
CODELET(rhs_3d)
CODELET(gauss_seidel)
CODELET(red_black)
CODELET(hotspot)
CODELET(srad)

/* line_solve.c, penta_solve.c, adi_step.c, wavefront.c */
CODELET(line_solve_x)
CODELET(line_solve_y)
CODELET(line_solve_z)
CODELET(penta_solve_x)
CODELET(adi_step)
CODELET(lu_wavefront)

/* sparse.c, vectors.c */
CODELET(spmv_csr)
CODELET(cg_dot)
CODELET(cg_axpy)

/* multigrid.c, smoother.c */
CODELET(mg_restrict)
CODELET(mg_prolong)
CODELET(mg_smooth)

/* spectral.c */
CODELET(fft_pass)
CODELET(fft_transpose)

/* sorting.c, scan.c */
CODELET(is_ranking)
CODELET(radix_sort)
CODELET(prefix_sum)

/* clustering.c, facility.c */
CODELET(kmeans_assignment)
CODELET(pgain)

/* graph.c */
CODELET(bfs_level)

/* reductions.c */
CODELET(histogram)

/* pointers.c */
CODELET(pointer_chase)

/* dense.c */
CODELET(matrix_product)
