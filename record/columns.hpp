// Tables, stored by rows in memory and by columns in the file.  One description of a column serves reading and writing.
// A reader skips unknown columns and uses the default for missing ones, so columns can be added without breaking
// readers.  Internal.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "record/cbor.hpp"

namespace effort::record {

namespace detail {
template <typename T>
void put_value(cbor::Encoder& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.boolean(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    out.real(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.text(value);
  } else {
    out.integer(static_cast<std::int64_t>(value));
  }
}
template <typename T>
void get_value(cbor::Decoder& in, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = in.boolean();
  } else if constexpr (std::is_floating_point_v<T>) {
    value = in.real();
    if (!std::isfinite(value)) throw std::runtime_error("a number is not finite");
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.text();
  } else if constexpr (sizeof(T) == 8) {
    value = static_cast<T>(in.integer());
  } else {
    using Wide = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    value = static_cast<T>(in.integer(std::numeric_limits<Wide>::min(), std::numeric_limits<Wide>::max()));
  }
}
}  // namespace detail

/// One column of a table of `Row`, or one field of a record.
template <typename Row>
struct Column {
  const char* name;
  bool required;  ///< tables without it are refused
  std::function<void(cbor::Encoder&, const Row&)> put;
  std::function<void(cbor::Decoder&, Row&)> get;
};

enum class Presence { required, optional };

template <typename Row, typename T>
Column<Row> column(const char* name, T Row::*member, Presence presence = Presence::required) {
  return {name, presence == Presence::required,
          [member](cbor::Encoder& out, const Row& row) { detail::put_value(out, row.*member); },
          [member](cbor::Decoder& in, Row& row) { detail::get_value(in, row.*member); }};
}

/// A real that may be unknown; non-finite values are read as the row's default.
template <typename Row>
Column<Row> estimate(const char* name, double Row::*member, Presence presence = Presence::required) {
  Column<Row> out = column<Row, double>(name, member, presence);
  out.get = [member](cbor::Decoder& in, Row& row) {
    const double value = in.real();
    if (std::isfinite(value)) row.*member = value;
  };
  return out;
}

namespace detail {
template <typename Row>
std::size_t find_column(const std::vector<Column<Row>>& columns, const std::string& name) {
  std::size_t i = 0;
  while (i < columns.size() && name != columns[i].name) ++i;
  return i;
}
template <typename Row>
void require_all(const std::vector<Column<Row>>& columns, const std::vector<bool>& seen) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].required && !seen[i]) throw std::runtime_error(std::string("'") + columns[i].name + "' is missing");
  }
}
}  // namespace detail

template <typename Row>
void put_table(cbor::Encoder& out, const std::vector<Column<Row>>& columns, const std::vector<Row>& rows) {
  out.map(columns.size());
  for (const Column<Row>& c : columns) {
    out.text(c.name);
    out.array(rows.size());
    for (const Row& row : rows) c.put(out, row);
  }
}

/// Errors: std::runtime_error.  Memory: the rows, whose number is bounded by the bytes per required column.
template <typename Row>
std::vector<Row> get_table(cbor::Decoder& in, const std::vector<Column<Row>>& columns) {
  std::size_t required = 0;
  for (const Column<Row>& c : columns) required += c.required;
  std::vector<Row> rows;
  std::vector<bool> seen(columns.size());
  bool first = true;
  for (std::uint64_t pairs = in.map(); pairs > 0; --pairs) {
    const std::string name = in.text();
    const std::size_t i = detail::find_column(columns, name);
    if (i == columns.size()) {
      in.skip();
      continue;
    }
    const std::uint64_t count = in.array();
    if (first && count * required > in.left()) throw std::runtime_error("a table is longer than its section");
    if (first) rows.resize(count);
    if (count != rows.size()) throw std::runtime_error("column '" + name + "' is not as long as the others");
    for (Row& row : rows) columns[i].get(in, row);
    seen[i] = true;
    first = false;
  }
  detail::require_all(columns, seen);
  return rows;
}

/// A field of a record that is itself a table.
template <typename Record, typename Row>
Column<Record> table_field(const char* name, std::vector<Row> Record::*member, const std::vector<Column<Row>>& columns,
                           Presence presence = Presence::required) {
  return {name, presence == Presence::required,
          [member, columns](cbor::Encoder& out, const Record& record) { put_table(out, columns, record.*member); },
          [member, columns](cbor::Decoder& in, Record& record) { record.*member = get_table(in, columns); }};
}

template <typename Row>
void put_record(cbor::Encoder& out, const std::vector<Column<Row>>& fields, const Row& row) {
  out.map(fields.size());
  for (const Column<Row>& f : fields) {
    out.text(f.name);
    f.put(out, row);
  }
}

/// Errors: std::runtime_error.
template <typename Row>
void get_record(cbor::Decoder& in, const std::vector<Column<Row>>& fields, Row& row) {
  std::vector<bool> seen(fields.size());
  for (std::uint64_t pairs = in.map(); pairs > 0; --pairs) {
    const std::size_t i = detail::find_column(fields, in.text());
    if (i == fields.size()) {
      in.skip();
      continue;
    }
    fields[i].get(in, row);
    seen[i] = true;
  }
  detail::require_all(fields, seen);
}

}  // namespace effort::record
