# A recipe for Spack.  In a repository of packages of your own (docs/install.md): packages/effort/package.py.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Effort(CMakePackage):
    """Load-balance analytics inside running simulations: measures what every step costs on every rank, and tells the
    code's own rebalancer in a callback the predicted loads and whether a rebalance now pays for itself."""

    homepage = "https://example.org/effort"  # set by whoever publishes a release, with url and checksum
    license("BSD-3-Clause")

    version("0.1.0")
    version("develop")

    variant("mpi", default=True, description="Build libeffort_mpi and libeffort_pmpi")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("papi", default=False, description="Build libeffort_papi, which counts PAPI events")
    variant("hwloc", default=True, description="Place the background thread with hwloc")
    variant("tools", default=True, description="Build the effort command")
    variant("hdf5", default=True, when="+tools", description="effort export writes HDF5")
    variant("otf2", default=True, when="+tools", description="Read and write OTF2 archives")
    variant("shared", default=True, description="Install shared libraries, otherwise static ones")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zstd libs=static,shared")
    depends_on("xxhash")
    depends_on("tomlplusplus")
    depends_on("mpi", when="+mpi")
    depends_on("hwloc", when="+hwloc")
    depends_on("papi", when="+papi")
    depends_on("cli11", type="build", when="+tools")
    depends_on("nlohmann-json@3.10:", type="build", when="+tools")
    depends_on("elfutils", when="+tools")
    depends_on("hdf5~mpi+hl", when="+hdf5")
    depends_on("otf2", when="+otf2")

    # The library's private Kokkos is built from source together with it, hidden and static, so that a code with a
    # Kokkos of its own keeps that one.
    resource(
        name="kokkos",
        url="https://github.com/kokkos/kokkos/releases/download/4.6.01/kokkos-4.6.01.tar.gz",
        sha256="b9d70e4653b87a06dbb48d63291bf248058c7c7db4bd91979676ad5609bb1a3a",
        destination="private-kokkos",
        placement="kokkos",
    )

    conflicts("%gcc@:10", msg="C++20 is needed")

    def cmake_args(self):
        from_variant = self.define_from_variant
        return [
            self.define("EFFORT_KOKKOS_SOURCE", join_path(self.stage.source_path, "private-kokkos", "kokkos")),
            self.define("EFFORT_ENABLE_TESTS", False),
            self.define("EFFORT_ENABLE_BENCH", False),
            self.define("EFFORT_ENABLE_OMPT", False),
            from_variant("EFFORT_ENABLE_MPI", "mpi"),
            from_variant("EFFORT_ENABLE_FORTRAN", "fortran"),
            from_variant("EFFORT_ENABLE_PAPI", "papi"),
            from_variant("EFFORT_ENABLE_HWLOC", "hwloc"),
            from_variant("EFFORT_ENABLE_TOOLS", "tools"),
            from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
