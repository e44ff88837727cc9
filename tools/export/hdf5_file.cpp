#include "tools/export/hdf5_file.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <stdexcept>

#include "tools/output/output.hpp"

namespace effort::tools::hdf5 {

namespace {

constexpr unsigned ordered = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;  ///< netCDF requires it to open a file

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "create a type");
  require(H5Tset_size(type, H5T_VARIABLE), "create a type");
  require(H5Tset_cset(type, H5T_CSET_UTF8), "create a type");
  return type;
}

void put_attribute(hid_t object, const char* name, hid_t stored, hid_t in_memory, const void* value) {
  const Handle space = space_of({});
  const Handle attribute(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "create an attribute");
  require(H5Awrite(attribute, in_memory, value), "write an attribute");
}

}  // namespace

Handle::Handle(hid_t id, herr_t (*closer)(hid_t), const char* problem) : id_(id), close_(closer) {
  if (id_ < 0) throw std::runtime_error(std::string("HDF5 cannot ") + problem);
}

Handle::~Handle() {
  if (id_ >= 0) close_(id_);
}

void Handle::close(const char* problem) { require(close_(std::exchange(id_, -1)), problem); }

void require(herr_t result, const char* problem) {
  if (result < 0) throw std::runtime_error(std::string("HDF5 cannot ") + problem);
}

Handle space_of(const std::vector<hsize_t>& shape) {
  return {
      shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
      H5Sclose, "create a data space"};
}

void put(hid_t object, const char* name, const std::string& value) {
  const Handle type = text_type();
  const std::string text = valid_utf8(value);
  const char* const pointer = text.c_str();
  put_attribute(object, name, type, type, &pointer);
}
void put(hid_t object, const char* name, double value) {
  put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void put(hid_t object, const char* name, std::int64_t value) {
  put_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

File::File(const std::filesystem::path& path) : id_(create(path)) {}

Handle File::create(const std::filesystem::path& path) {
  require(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "start");
  const Handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "create the file");
  require(H5Pset_link_creation_order(properties, ordered), "create the file");
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT), H5Fclose,
          "create the file (is the directory writable?)"};
}

void File::close() {
  // A file with open datasets would stay open.
  dimensions_.clear();
  id_.close("finish the file (is the disk full?)");
}

void File::make_scale(const std::string& name, Handle dataset, const std::string& meaning) {
  put(dataset, "long_name", meaning);
  require(H5DSset_scale(dataset, name.c_str()), "create a dimension");
  dimensions_.emplace_back(name, std::move(dataset));
}

void File::finish_values(const Handle& dataset, const std::string& dimension, const std::string& meaning,
                         const std::string& unit) {
  attach(dataset, {dimension});
  put(dataset, "long_name", meaning);
  if (!unit.empty()) put(dataset, "units", unit);
}

void File::attach(hid_t dataset, const std::vector<std::string>& names) {
  for (unsigned i = 0; i < names.size(); ++i) {
    const auto at =
        std::find_if(dimensions_.begin(), dimensions_.end(), [&](const auto& d) { return d.first == names[i]; });
    require(H5DSattach_scale(dataset, at->second, i), "attach a dimension");
  }
}

std::string File::free_name(std::string name) {
  for (char& c : name) c = c == '/' ? '_' : c;
  if (name.empty() || name == "." || name == "..") name = "metric";
  while (!taken_.insert(name).second) name += "_";
  return name;
}

Handle File::write_numbers(const std::string& name, hid_t stored, hid_t in_memory, const void* values,
                           std::size_t size) {
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "create a dataset");
  require(H5Pset_attr_creation_order(properties, ordered), "create a dataset");
  const Handle space = space_of({size});
  Handle dataset(H5Dcreate2(id_, name.c_str(), stored, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
                 "create a dataset");
  require(H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write a dataset (is the disk full?)");
  return dataset;
}

Handle File::write_values(const std::string& name, const std::vector<double>& v) {
  return write_numbers(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, v.data(), v.size());
}
Handle File::write_values(const std::string& name, const std::vector<std::int32_t>& v) {
  return write_numbers(name, H5T_STD_I32LE, H5T_NATIVE_INT32, v.data(), v.size());
}
Handle File::write_values(const std::string& name, const std::vector<std::int64_t>& v) {
  return write_numbers(name, H5T_STD_I64LE, H5T_NATIVE_INT64, v.data(), v.size());
}
Handle File::write_values(const std::string& name, const std::vector<std::string>& v) {
  std::vector<std::string> texts;
  for (const std::string& text : v) texts.push_back(valid_utf8(text));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  const Handle type = text_type();
  return write_numbers(name, type, type, pointers.data(), pointers.size());
}

}  // namespace effort::tools::hdf5
