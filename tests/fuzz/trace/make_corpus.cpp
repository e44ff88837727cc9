// make_corpus DIRECTORY: inputs of both fuzzers, made of the sample file.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "record/trace/format.hpp"
#include "sample.hpp"

namespace {

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void append(std::vector<std::byte>& to, const std::vector<std::byte>& bytes, bool with_length) {
  if (with_length) {
    to.push_back(static_cast<std::byte>(bytes.size()));
    to.push_back(static_cast<std::byte>(bytes.size() >> 8));
  }
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Inputs with the dictionary, one piece of representatives, and a chunk.
void write_reduced(const std::filesystem::path& directory, const effort::record::trace::test::Sample& sample) {
  std::vector<std::byte> pieces;
  for (std::size_t i = 0; i < sample.chunks.size(); ++i) {
    const auto& c = sample.chunks[i];
    if (c.chunk.node != 2) continue;
    if (!c.dictionary.coded.empty()) append(pieces, c.dictionary.coded, true);
    if (!c.chunk.reduced) continue;
    std::vector<std::byte> input = pieces;
    append(input, c.representatives.coded, true);
    append(input, c.chunk.coded, false);
    write(directory / ("reduced_" + std::to_string(i)), input);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace effort::record::trace;
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  const test::Sample sample = test::sample();
  const test::Sample reduced = test::sample(effort::trace::n_kinds, true);
  write_reduced(directory / "corpus_decode", reduced);
  for (int node = 0; node < 3; node += 2) {
    std::vector<std::byte> pieces;
    for (std::size_t i = 0; i < sample.chunks.size(); ++i) {
      const test::Sample::Chunk& c = sample.chunks[i];
      if (c.chunk.node != node) continue;
      if (!c.dictionary.coded.empty()) append(pieces, c.dictionary.coded, true);
      std::vector<std::byte> input = pieces;
      append(input, c.chunk.coded, false);
      write(directory / "corpus_decode" / ("chunk_" + std::to_string(i)), input);
    }
  }
  for (const auto& [name, of] : {std::pair<std::string, const test::Sample&>("", sample), {"_reduced", reduced}}) {
    const std::vector<std::vector<std::byte>> chunks = test::encoded(of);
    write(directory / "corpus_reader" / ("file" + name), test::file_of(chunks));
    std::vector<std::byte> recipe;
    const std::string types =
        "HNDWEGCMRS";  // the first letters of the types, in the order that the fuzzer numbers them
    for (const std::vector<std::byte>& chunk : chunks) {
      recipe.push_back(static_cast<std::byte>(types.find(static_cast<char>(chunk[0]))));
      append(recipe, {chunk.begin() + static_cast<std::ptrdiff_t>(format::frame_bytes), chunk.end()}, true);
    }
    write(directory / "corpus_reader" / ("chunks" + name), recipe);
  }
  return 0;
}
