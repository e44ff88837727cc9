// make_corpus DIRECTORY: inputs of the fuzzer, made of streams of the tests.
#include <filesystem>
#include <fstream>
#include <string>

#include "record/calls/file.hpp"
#include "recordings.hpp"
#include "streams.hpp"

int main(int argc, char** argv) {
  using namespace effort::calls;
  if (argc != 2) return 2;
  const std::vector<test::Stream> streams{test::program(1, 12), test::any_events(2, 200, 5, 0.5),
                                          test::any_events(3, 60, 60000, 0.3), test::any_events(4, 60, 3, 0.9)};
  const auto write = [&](const std::string& name, std::span<const std::byte> bytes) {
    std::ofstream(std::filesystem::path(argv[1]) / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  for (std::size_t i = 0; i < streams.size(); ++i) {
    BlockEncoder encoder;
    effort::record::calls::FileMaker maker;
    for (std::size_t k = 0; k <= i; ++k) {
      encoder.begin_run(k);
      encoder.append(streams[k]);
      maker.append(k, streams[k]);
    }
    std::vector<std::byte> block = encoder.finish();
    block.insert(block.begin(), std::byte{0});
    write("block" + std::to_string(i), block);
    effort::record::calls::Names names;
    names.modules = {{"app", "/app", "01"}};
    names.functions = {{0, 64}, {0, 128}};
    names.streams.resize(i + 1);
    write("file" + std::to_string(i), maker.finish(std::move(names)));
  }
  effort::record::calls::test::RecordingMaker recording(60);
  recording.thread(0, streams[0]);
  recording.thread(1, test::any_events(5, 400, 60, 0.5));
  write("recording", recording.bytes());

  const std::vector<std::uint64_t> gaps{3, 300, 20, 20, 20, 1u << 30, 7, 7};
  effort::record::calls::test::RecordingMaker stamped(60, 2);
  stamped.thread(0, streams[0]);
  stamped.stamps(0, gaps);
  write("recording_stamps", stamped.bytes());
  effort::record::calls::FileMaker maker;
  maker.append(0, streams[0], 2, gaps);
  maker.append(1, streams[1], 1, gaps);
  effort::record::calls::Names names;
  names.streams.resize(2);
  write("file_stamps", maker.finish(std::move(names)));
}
