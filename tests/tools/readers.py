"""Opens files written by `effort export` with the libraries that people use, and compares them with the NPY export.

usage: readers.py hdf5|xarray FILE.h5 NPY_DIRECTORY
       readers.py vti|vtk FILE.vti NPY_DIRECTORY
Exit code: 0 if all values are right, 1 with a message otherwise, 77 if the reader is not installed.
"""
import json
import os
import sys
import xml.etree.ElementTree

try:
    import numpy as np
except ImportError:
    sys.exit(77)


def expect(good, what):
    if not good:
        sys.exit("readers.py: " + what)


def same(a, b):
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


def load(directory):
    with open(os.path.join(directory, "axes.json")) as file:
        axes = json.load(file)
    cubes = {name: np.load(os.path.join(directory, m["file"])) for name, m in axes["metrics"].items()}
    for cube in cubes.values():
        expect(cube.dtype == np.float64, "NPY is not float64")
        expect(cube.shape == (len(axes["regions"]), len(axes["ranks"]), len(axes["steps"])),
               "the shape of the NPY file differs from its axes")
    return axes, cubes


def hdf5_name(metric):
    """Replaces '/', which would create a group."""
    return metric.replace("/", "_")


def text(values):
    return [v.decode() if isinstance(v, bytes) else v for v in values]


def check_hdf5(path, directory):
    try:
        import h5py
    except ImportError:
        sys.exit(77)
    axes, cubes = load(directory)
    with h5py.File(path, "r") as file:
        expect(text(file["region"][()]) == axes["regions"], "regions differ")
        expect(text(file["kind"][()]) == axes["kinds"], "kinds differ")
        expect(list(file["rank"][()]) == axes["ranks"], "ranks differ")
        expect(list(file["step"][()]) == axes["steps"], "steps differ")
        for name, cube in cubes.items():
            unit = axes["metrics"][name]["unit"] or "1"
            name = hdf5_name(name)
            data = file[name]
            expect(same(data[()], cube), "values of %s differ" % name)
            for i, dimension in enumerate(("region", "rank", "step")):
                expect(data.dims[i][0].name == "/" + dimension, "dimension %d is not %s" % (i, dimension))
            expect(data.attrs["units"] == unit, "units of %s differ" % name)
            for error in ("nrmse", "max_error"):
                expect(data.attrs["compression_" + error] == max(file[name + "_" + error][()]),
                       "the attribute compression_%s is not the largest error" % error)
            expect(file[name + "_total"].dims[0][0].name == "/region", "totals have no regions")


def check_xarray(path, directory):
    try:
        import xarray
    except ImportError:
        sys.exit(77)
    axes, cubes = load(directory)
    engines = [e for e in ("netcdf4", "h5netcdf") if e in xarray.backends.list_engines()]
    if not engines:
        sys.exit(77)
    for engine in engines:
        with xarray.open_dataset(path, engine=engine) as data:
            for name, cube in cubes.items():
                unit = axes["metrics"][name]["unit"] or "1"
                name = hdf5_name(name)
                expect(data[name].dims == ("region", "rank", "step"),
                       "%s: dimensions are %s" % (engine, data[name].dims))
                expect(same(data[name].values, cube), "%s: values of %s differ" % (engine, name))
                expect(data[name].attrs["units"] == unit, "%s: units differ" % engine)
                expect("kind" in data[name].coords and "node" in data[name].coords,
                       "%s: kind and node are not coordinates" % engine)
            expect([str(r) for r in data["region"].values] == axes["regions"], "%s: regions differ" % engine)


def matrix_of(name, axes, cubes, seen):
    """The expected matrix of an array "METRIC [UNIT]: REGION"."""
    for metric, cube in cubes.items():
        for region, values in zip(axes["regions"], cube):
            if name.startswith(metric) and name.endswith(": " + region):
                seen.append((metric, region))
                return values
    sys.exit("readers.py: unexpected array " + name)


def expect_all_seen(axes, cubes, seen):
    """Every measured matrix must occur once."""
    measured = [(m, r) for m, cube in cubes.items() for r, values in zip(axes["regions"], cube) if np.any(values != 0)]
    expect(sorted(seen) == sorted(measured), "the arrays are %s" % seen)


def check_vti(path, directory):
    """Reads the file by the description of the format, without VTK."""
    axes, cubes = load(directory)
    with open(path, "rb") as file:
        content = file.read()
    at = content.index(b'<AppendedData encoding="raw">')
    start = content.index(b"_", at) + 1
    root = xml.etree.ElementTree.fromstring(content[:at] + b"</VTKFile>")
    expect(root.get("byte_order") == "LittleEndian" and root.get("header_type") == "UInt64",
           "byte order or header type is wrong")
    image = root.find("ImageData")
    rows, cols = len(axes["ranks"]), len(axes["steps"])
    extent = image.get("WholeExtent")
    expect(extent == "0 %d 0 %d 0 0" % (cols - 1, rows - 1), "the extent is " + extent)
    expect(image.find("Piece").get("Extent") == extent, "the piece is not the whole image")
    fields = {a.get("Name"): a.text.split() for a in image.find("FieldData")}
    expect([int(v) for v in fields["rank"]] == axes["ranks"], "ranks differ")
    expect([int(v) for v in fields["step"]] == axes["steps"], "steps differ")
    arrays = list(image.find("Piece").find("PointData"))
    expect(len(arrays) == len(fields["compression_nrmse"]), "there is not one error per array")
    end = 0
    seen = []
    for array in arrays:
        values = matrix_of(array.get("Name"), axes, cubes, seen)
        offset = start + int(array.get("offset"))
        size = int.from_bytes(content[offset:offset + 8], "little")
        expect(size == 8 * rows * cols, "an array has %d bytes" % size)
        stored = np.frombuffer(content, "<f8", rows * cols, offset + 8).reshape(rows, cols)
        expect(same(stored, values), "values of %s differ" % array.get("Name"))
        end = offset + 8 + size
    expect_all_seen(axes, cubes, seen)
    expect(content[end:].split() == [b"</AppendedData>", b"</VTKFile>"], "the file does not end after the last array")


def check_vtk(path, directory):
    try:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader
    except ImportError:
        sys.exit(77)
    axes, cubes = load(directory)
    reader = vtkXMLImageDataReader()
    expect(reader.CanReadFile(path) == 1, "VTK cannot read it")
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    rows, cols = len(axes["ranks"]), len(axes["steps"])
    expect(image.GetDimensions() == (cols, rows, 1), "VTK sees dimensions %s" % (image.GetDimensions(),))
    data = image.GetPointData()
    seen = []
    for i in range(data.GetNumberOfArrays()):
        values = matrix_of(data.GetArrayName(i), axes, cubes, seen)
        stored = vtk_to_numpy(data.GetArray(i)).reshape(rows, cols)
        expect(same(stored, values), "values of %s differ" % data.GetArrayName(i))
    expect_all_seen(axes, cubes, seen)


if __name__ == "__main__":
    checks = {"hdf5": check_hdf5, "xarray": check_xarray, "vti": check_vti, "vtk": check_vtk}
    checks[sys.argv[1]](sys.argv[2], sys.argv[3])
