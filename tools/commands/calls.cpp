// effort calls encode IN... --width 2|4 -o OUT, effort calls decode IN OUT
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "record/calls/file.hpp"
#include "record/text.hpp"
#include "tools/calls/input.hpp"
#include "tools/calls/raw_stream.hpp"
#include "tools/commands/commands.hpp"
#include "tools/files/output_file.hpp"
#include "tools/files/raw_file.hpp"
#include "tools/output/output.hpp"

namespace effort::tools {

namespace {

void print_result(std::uint64_t events, std::uint64_t bytes, double seconds, bool json) {
  if (json) {
    print_json({{"events", events}, {"bytes", bytes}, {"seconds", seconds}});
  } else {
    std::printf("%llu events, %s, %s\n", static_cast<unsigned long long>(events),
                bytes_text(static_cast<double>(bytes)).c_str(), seconds_text(seconds).c_str());
  }
}

/// Refuses to fill the disk: a small file may stand for a very long stream.
void check_space(const std::filesystem::path& out, std::uint64_t events, unsigned width) {
  std::error_code error;
  const std::filesystem::path directory = out.parent_path().empty() ? "." : out.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(directory, error);
  if (error || std::filesystem::exists(out, error) != std::filesystem::is_regular_file(out, error)) return;
  if (events > space.available / width)
    throw std::runtime_error("the calls expand to " + std::to_string(events) + " ids of " + std::to_string(width) +
                             " bytes, more than the free space in '" + directory.string() + "': give a --stream");
}

}  // namespace

void run_calls_encode(const CallsEncodeArguments& a) {
  const Stopwatch watch;
  const CallInput input(a.inputs, a.width);
  record::calls::Names names = input.names();
  record::calls::FileMaker maker;
  std::uint64_t events = 0, begun = 0;
  const auto begin = [&](std::uint64_t streams) {
    for (; begun < streams; ++begun) maker.append(begun, {});
  };
  input.read_timed(
      [&](std::uint64_t stream, std::span<const std::uint32_t> piece, std::span<const std::uint64_t> gaps) {
        begin(stream);
        begun = stream + 1;
        maker.append(stream, piece, names.streams[stream].stamp_every, gaps);
        events += piece.size();
      });
  begin(names.streams.size());
  // Raw streams are those of the ranks, in their order.
  for (std::size_t i = 0; i < names.streams.size() && !input.has_names() && names.streams.size() > 1; ++i)
    names.streams[i].rank = static_cast<std::int64_t>(i);
  const std::vector<std::byte> bytes = maker.finish(std::move(names));
  OutputFile file(a.out);
  file.write(bytes);
  file.commit();
  for (const std::string& note : input.notes()) std::fprintf(stderr, "effort: %s\n", record::visible(note).c_str());
  print_result(events, bytes.size(), watch.seconds(), a.json);
}

void run_calls_decode(const CallsDecodeArguments& a) {
  const Stopwatch watch;
  const record::calls::CallsFile calls(read_bytes(a.in), a.in);
  const record::calls::Names& names = calls.names();
  const unsigned width = a.width != 0 ? a.width : names.width;
  if (a.stream && *a.stream >= names.streams.size())
    throw UsageError("--stream " + std::to_string(*a.stream) + " does not exist: '" + a.in + "' has streams 0 to " +
                     std::to_string(names.streams.size() - 1));
  std::uint64_t announced = 0;
  for (std::size_t i = 0; i < names.streams.size(); ++i)
    if (!a.stream || i == *a.stream)
      if (__builtin_add_overflow(announced, names.streams[i].events, &announced)) announced = ~std::uint64_t{0};
  check_space(a.out, announced, width);
  OutputFile file(a.out);
  std::uint64_t events = 0;
  std::vector<std::byte> raw;
  const auto write = [&](std::uint64_t, std::span<const std::uint32_t> piece) {
    raw_calls(piece, width, events, raw);
    file.write(raw);
    events += piece.size();
  };
  calls.read(write, a.stream);
  file.commit();
  print_result(events, events * width, watch.seconds(), a.json);
}

}  // namespace effort::tools
