/* Marks LAMMPS's communication for effort, and measures the time spent in it. */
#ifndef MPI_MARKS_H
#define MPI_MARKS_H

/* From now on communication is reported as a region of kind COMM. */
void mpi_marks_start(void);
void mpi_marks_stop(void);

/* CPU seconds of this thread, and the part of them spent outside MPI. */
double cpu_seconds(void);
double compute_seconds(void);

#endif
