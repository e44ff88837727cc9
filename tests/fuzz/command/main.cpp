// Runs the fuzz target on every file of the given directories, or on generated inputs for some time.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

/// Discards the output of the target.
int report(int descriptor, const std::string& text) {
  return ::write(descriptor, text.data(), text.size()) < 0 ? 1 : 0;
}

std::string recipe(std::mt19937& random) {
  const std::size_t changes = 1 + random() % 4;
  std::string out(1, static_cast<char>(random()));
  for (std::size_t i = 0; i < 5 * changes; ++i) out += static_cast<char>(random());
  return out;
}

void run(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

int search(double seconds, unsigned seed, const fs::path& directory, int out) {
  std::mt19937 random(seed);
  const auto start = std::chrono::steady_clock::now();
  long inputs = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds; ++inputs) {
    const std::string bytes = recipe(random);
    std::ofstream(directory / "last", std::ios::binary) << bytes;
    run(bytes);
  }
  return report(out, std::to_string(inputs) + " inputs, no errors\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int out = ::dup(STDOUT_FILENO);
  if (argc > 2 && std::string(argv[1]) == "--search")
    return search(std::atof(argv[2]), argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1,
                  argc > 4 ? argv[4] : ".", out);
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : fs::directory_iterator(argv[i])) {
      std::ifstream in(entry.path(), std::ios::binary);
      run({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
      ++files;
    }
  }
  return report(out, std::to_string(files) + " inputs\n") != 0 || files == 0;
}
