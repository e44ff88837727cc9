// The sections that describe a run, as bytes and back.  Internal.
#pragma once

#include "record/format.hpp"
#include "record/run.hpp"

namespace effort::record {

format::Bytes encode_run(const Run& run);
format::Bytes encode_windows(const Run& run);
format::Bytes encode_strata(const Run& run);
format::Bytes encode_moves(const Run& run);

/// Fill the part of `run` that the section holds; decode_run comes first.  Errors: std::runtime_error.
void decode_run(format::View raw, Run& run);
void decode_windows(format::View raw, Run& run);
void decode_strata(format::View raw, Run& run);
void decode_moves(format::View raw, Run& run);

/// Refuses a run that contradicts itself.  Errors: std::runtime_error.
void check(const Run& run);

}  // namespace effort::record
