// Runs a fuzz target on stored inputs and on mutated copies of them, without libFuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  std::size_t files = 0;
  for (int a = 1; a < argc; ++a)
    for (const auto& entry : std::filesystem::directory_iterator(argv[a])) {
      std::ifstream in(entry.path(), std::ios::binary);
      std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
      std::uint32_t state = 12345;
      for (int change = 0; change < 60 && !bytes.empty(); ++change) {
        auto changed = bytes;
        for (int k = 0; k < 3; ++k) {
          state = state * 1664525u + 1013904223u;
          changed[(state >> 8) % changed.size()] = static_cast<std::uint8_t>(state >> 3);
        }
        if (change % 5 == 0) changed.resize(changed.size() * static_cast<std::size_t>(change % 7) / 7);
        LLVMFuzzerTestOneInput(changed.data(), changed.size());
      }
      ++files;
    }
  std::printf("%zu inputs replayed\n", files);
  return files > 0 ? 0 : 1;
}
