// effort info SNAP
#include <unistd.h>

#include <cstdio>
#include <filesystem>
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

void run_info(const InfoArguments& a) {
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

}  // namespace effort::tools
