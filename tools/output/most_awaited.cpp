#include "tools/output/most_awaited.hpp"

#include "tools/output/output.hpp"

namespace effort::tools {

std::string most_awaited_text(const record::MostAwaited& most, const std::string& region) {
  constexpr std::size_t name_width = 100;
  return "Rank " + std::to_string(most.rank) + " made the others wait " + seconds_text(most.seconds) +
         " at collectives" + (most.followed_back ? " and for messages" : "") + ", " + percent_text(most.share) +
         " of all such waiting" +
         (region.empty() ? "" : "; it exceeds the mean rank most in `" + name_text(region, name_width) + "`") + ".";
}

nlohmann::ordered_json most_awaited_json(const record::MostAwaited& most, const std::string& region) {
  return {{"rank", most.rank},     {"seconds", most.seconds}, {"share", most.share},
          {"region", most.region}, {"name", region},          {"followed_back", most.followed_back}};
}

}  // namespace effort::tools
