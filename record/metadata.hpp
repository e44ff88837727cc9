// Encodes and decodes the sections that describe a run.  Internal.
#pragma once

#include "record/format.hpp"
#include "record/run.hpp"

namespace effort::record {

format::Bytes encode_run(const Run& run);
format::Bytes encode_windows(const Run& run);
format::Bytes encode_strata(const Run& run);
format::Bytes encode_moves(const Run& run);

/// These fill the section's part of `run`; decode_run must come first.  Errors: std::runtime_error.
void decode_run(format::View raw, Run& run);
void decode_windows(format::View raw, Run& run);
void decode_strata(format::View raw, Run& run);
void decode_moves(format::View raw, Run& run);

/// Refuses an inconsistent run.  Errors: std::runtime_error.
void check(const Run& run);

}  // namespace effort::record
