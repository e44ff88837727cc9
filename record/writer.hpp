// Turns a run into the bytes of a snapshot file, and puts them on disk in one piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/run.hpp"

namespace effort::record {

/// Encodes what one node contributes: its tiles and, if any, its exact windows.  To be called on every node; the
/// result travels to the node that writes (plain bytes, any number may be concatenated in any order).
/// Errors: std::invalid_argument for a block whose sizes do not fit.  Threads: any.  Cost: one pass, zstd level 3.
std::vector<std::byte> encode_part(const NodePart& part);

/// Encodes the histories of all nodes as one: a part beside the nodes' own, which then hold no tiles.
/// Errors and threads: as encode_part.
std::vector<std::byte> encode_shared(const std::vector<Tile>& tiles);

/// Encodes a whole snapshot file (FORMAT.md).
/// @param run    complete; `placement` covers all ranks
/// @param parts  one per node (see encode_part; a node that failed may be missing) and encode_shared's, in any order:
/// the file is
///               sorted by node, so equal content gives equal bytes
/// Errors: std::invalid_argument for a run that contradicts itself (which, what to do) or a part that is no
/// encoded part.  Threads: any.  Cost: the parts are copied once.
std::vector<std::byte> encode(const Run& run, std::span<const std::vector<std::byte>> parts);

/// The file name of a snapshot, "NAME-JOB-STEP.effort"; characters of NAME and JOB other than letters, digits,
/// '.', '_', '+' and '-' become '_', an empty one "run", STEP has eight digits or more.
std::string file_name(const Run& run);

/// Writes `bytes` under `path` so that a reader sees nothing or all of it: a file without a name in the same directory,
/// fsync, link, fsync of the directory.  Missing directories are created.  A file of that name is never overwritten:
/// see the error.  On a file system that has no files without a name, the temporary file of a process that is killed
/// stays, and is removed by the next write into that directory from the same machine. Errors:
/// std::filesystem::filesystem_error (code() is std::errc::file_exists where the name is taken). Threads: any.  Blocks
/// on the disk.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// write_file under `directory / file_name(run)`; where that name is taken by another run's file, under
/// "NAME-JOB-STEP.1.effort", ".2" and so on.  Returns the path written.  Errors and threads: as write_file.
std::filesystem::path write_snapshot(const std::filesystem::path& directory, const Run& run,
                                     std::span<const std::byte> bytes);

}  // namespace effort::record
