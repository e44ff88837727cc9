// The options of `effort calls`.
#include <memory>

#include "tools/commands/commands.hpp"
#include "tools/commands/options.hpp"

namespace effort::tools {

namespace {

void add_encode(CLI::App& app) {
  auto a = std::make_shared<CallsEncodeArguments>();
  CLI::App* command =
      app.add_subcommand("encode", "Compresses streams of function calls; parts in common are stored once");
  command
      ->add_option(
          "IN", a->inputs,
          "recordings of libeffort_functions (.rec, or their directory), or raw streams, one per thread or "
          "rank, in the order of ranks: little-endian ids, that of a function at its entry and 0 at its return")
      ->required();
  command->add_option("--width", a->width, "bytes per id of raw streams")
      ->capture_default_str()
      ->check(CLI::IsMember({2, 4}));
  command->add_option("-o", a->out, "file to write (.calls)")->required();
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_calls_encode(*a); });
}

void add_decode(CLI::App& app) {
  auto a = std::make_shared<CallsDecodeArguments>();
  CLI::App* command = app.add_subcommand("decode", "Expands coded calls into raw streams, one after the other");
  command->add_option("IN", a->in, "file of coded calls (.calls)")->required();
  command->add_option("OUT", a->out, "file to write")->required();
  command->add_option("--stream", a->stream, "only this stream, counted from 0");
  command->add_option("--width", a->width, "bytes per id (by default as in the encoded streams)")
      ->check(CLI::IsMember({2, 4}));
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_calls_decode(*a); });
}

}  // namespace

void add_calls(CLI::App& app) {
  CLI::App* command = app.add_subcommand("calls", "Codes and shows the function calls of programs");
  command->require_subcommand(1);
  add_encode(*command);
  add_decode(*command);
}

}  // namespace effort::tools
