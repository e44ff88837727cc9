/* Marks where LAMMPS communicates for effort, and measures the time of it. */
#ifndef MPI_MARKS_H
#define MPI_MARKS_H

/* From now on communication is a region of kind COMM. */
void mpi_marks_start(void);
void mpi_marks_stop(void);

/* CPU seconds of this thread, and those of them that were not spent inside MPI. */
double cpu_seconds(void);
double compute_seconds(void);

#endif
