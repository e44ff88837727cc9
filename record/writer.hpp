// Encodes a run as a snapshot file, and writes it to disk atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::record {

/// Encodes one node's contribution: its tiles and its exact windows, if any.  Call it on every node and send the result
/// to the writing node.  Parts are plain bytes that may be concatenated in any order.
/// Errors: std::invalid_argument for a block of inconsistent sizes.  Threads: any.  Cost: one pass, zstd level 3.
std::vector<std::byte> encode_part(const NodePart& part);

/// Encodes the histories of all nodes as one.  The nodes' own parts must then have no tiles.
/// Errors and threads: as encode_part.
std::vector<std::byte> encode_united(const std::vector<Tile>& tiles);

/// Encodes a whole snapshot file (FORMAT.md).
/// @param run    complete; `placement` covers all ranks
/// @param parts  one per node (see encode_part; a node that failed may be missing) and that of encode_united, in any
///               order; the file is sorted by node, so equal content gives equal bytes
/// Errors: std::invalid_argument for an inconsistent run (the message names the problem and a remedy) or an invalid
/// part.  Threads: any.  Cost: the parts are copied once.
std::vector<std::byte> encode(const Run& run, std::span<const std::vector<std::byte>> parts);

/// The file name of a snapshot, "NAME-JOB-STEP.effort".  Characters of NAME and JOB other than letters, digits, '.',
/// '_', '+' and '-' become '_'.  An empty NAME or JOB becomes "run".  STEP has at least eight digits.
std::string file_name(const Run& run);

/// Writes `bytes` to `path` atomically: a file without a name in the same directory, fsync, link, fsync of the
/// directory.  Missing directories are created.  An existing file is never overwritten.  If the file system has no
/// files without a name, the temporary file of a killed process stays until the next write into that directory from the
/// same machine.  Errors: std::filesystem::filesystem_error (code() is std::errc::file_exists if the name is taken).
/// Threads: any.  Blocks on the disk.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// write_file to `directory / file_name(run)`, or, if another run's file has that name, to "NAME-JOB-STEP.1.effort",
/// ".2" and so on.  Returns the path written.  Errors and threads: as write_file.
std::filesystem::path write_snapshot(const std::filesystem::path& directory, const Run& run,
                                     std::span<const std::byte> bytes);

}  // namespace effort::record
