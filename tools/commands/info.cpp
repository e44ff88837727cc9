// effort info SNAP
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "record/reader.hpp"
#include "record/series.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/kokkos_session.hpp"
#include "tools/output/output.hpp"
#include "tools/view/info_json.hpp"
#include "tools/view/info_text.hpp"

namespace effort::tools {

namespace {

struct Arguments {
  std::string snapshot, heat_map = "auto";
  std::vector<std::string> module_paths;
  bool all = false, raw_names = false, json = false;
};

void run_info(const Arguments& a) {
  record::Reader reader{std::filesystem::path(a.snapshot)};
  reader.verify();
  const record::SeriesReader series(reader);
  Symbols symbols(reader.run().modules, {a.module_paths.begin(), a.module_paths.end()});
  Symbols* const resolver = a.raw_names ? nullptr : &symbols;
  if (a.json) {
    print_json(info_json(reader, series, resolver));
    return;
  }
  InfoOptions options;
  options.terminal = terminal_of(STDOUT_FILENO);
  options.heat_map = a.heat_map == "always" || (a.heat_map == "auto" && options.terminal.interactive);
  options.all = a.all;
  options.symbols = resolver;
  std::optional<KokkosSession> kokkos;
  if (options.heat_map) kokkos.emplace();
  const std::string text = info_text(reader, series, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void add_info(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("info", "Checks a snapshot and prints its contents");
  command->add_option("SNAP", a->snapshot, "snapshot file")->required();
  command->add_flag("--all", a->all, "every region and window instead of one screen");
  command->add_option("--heat-map", a->heat_map, "a picture of the load (auto: on a terminal)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_option("--module-path", a->module_paths,
                      "directory or file of a program or library that call paths point into (repeatable)");
  command->add_flag("--raw-names", a->raw_names, "leave call paths as they are in the snapshot");
  command->add_flag("--json", a->json, "print one JSON object");
  command->callback([a] { run_info(*a); });
}

}  // namespace effort::tools
