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

/* clustering.c, facility.c, neighbours.c */
CODELET(kmeans_assignment)
CODELET(pgain)
CODELET(nearest_neighbour)

/* graph_search.c, graph_paths.c, graph_rank.c, graph_components.c, graph_triangles.c */
CODELET(bfs_level)
CODELET(sssp_relax)
CODELET(pagerank)
CODELET(connected_components)
CODELET(triangle_count)

/* dense.c, dense_factor.c, dense_solve.c */
CODELET(matrix_product)
CODELET(matrix_transpose)
CODELET(lu_decomposition)
CODELET(triangular_solve)

/* alignment.c */
CODELET(needleman_wunsch)
CODELET(pathfinder)

/* cells.c, particles.c, resampling.c */
CODELET(nbody_cells)
CODELET(particle_push)
CODELET(particle_filter)

/* mesh.c */
CODELET(mesh_gather_scatter)

/* database.c, hashing.c, lookup.c */
CODELET(btree_search)
CODELET(hash_build)
CODELET(hash_join)
CODELET(table_lookup)

/* reductions.c */
CODELET(histogram)
CODELET(reduction_tree)

/* sharing.c, tasks.c, random_pairs.c, pointers.c */
CODELET(shared_table)
CODELET(false_sharing)
CODELET(task_recursion)
CODELET(ep_pairs)
CODELET(pointer_chase)
