#include "tools/trace/input/otf2_definitions.hpp"

#include <filesystem>
#include <memory>
#include <stdexcept>

namespace effort::tools::otf2 {

namespace {

Definitions& of(void* data) { return *static_cast<Definitions*>(data); }

OTF2_CallbackCode on_clock(void* data, std::uint64_t resolution, std::uint64_t offset, std::uint64_t,
                           std::uint64_t realtime) {
  Definitions& d = of(data);
  d.ticks_per_second = resolution;
  d.offset = offset;
  d.started_unix_ns = realtime;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_string(void* data, OTF2_StringRef self, const char* text) {
  of(data).strings[self] = text == nullptr ? "" : text;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_system_node(void* data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef kind,
                                 OTF2_SystemTreeNodeRef parent) {
  Definitions& d = of(data);
  d.system_nodes[self] = {d.text(name), d.text(kind), parent};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_process(void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type,
                             OTF2_SystemTreeNodeRef parent, OTF2_LocationGroupRef) {
  if (type == OTF2_LOCATION_GROUP_TYPE_PROCESS) of(data).processes[self] = {of(data).text(name), parent};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location(void* data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                              std::uint64_t, OTF2_LocationGroupRef group) {
  Definitions& d = of(data);
  d.locations.push_back({self, d.text(name), type == OTF2_LOCATION_TYPE_CPU_THREAD, group});
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_region(void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical,
                            OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef,
                            std::uint32_t, std::uint32_t) {
  Definitions& d = of(data);
  const std::string& text = d.text(name);
  d.regions[self] = {text.empty() ? d.text(canonical) : text, role};
  return OTF2_CALLBACK_SUCCESS;
}

// EZTrace gives MPI's locations and the group of MPI_COMM_WORLD the same id; the type tells them apart.
OTF2_CallbackCode on_group(void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                           OTF2_GroupFlag flags, std::uint32_t count, const std::uint64_t* members) {
  Definitions& d = of(data);
  const bool mpi = paradigm == OTF2_PARADIGM_MPI;
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && mpi) d.mpi_locations.assign(members, members + count);
  if (type == OTF2_GROUP_TYPE_COMM_SELF && mpi) d.groups[self] = {};
  if (type == OTF2_GROUP_TYPE_COMM_GROUP && mpi) {
    std::vector<std::int32_t>& ranks = d.groups[self];
    ranks.clear();
    if ((flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0) d.global_groups.insert(self);
    for (std::uint32_t i = 0; i < count; ++i)
      ranks.push_back(members[i] < INT32_MAX ? static_cast<std::int32_t>(members[i]) : -1);
  }
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_communicator(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef,
                                  OTF2_CommFlag) {
  of(data).communicators[self] = {of(data).text(name), group};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_intercommunicator(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a,
                                       OTF2_GroupRef b, OTF2_CommRef, OTF2_CommFlag) {
  of(data).communicators[self] = {of(data).text(name), a, b};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_window(void* data, OTF2_RmaWinRef self, OTF2_StringRef, OTF2_CommRef communicator,
                            OTF2_RmaWinFlag) {
  of(data).windows[self] = communicator;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_parameter(void* data, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType) {
  of(data).parameters[self] = of(data).text(name);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_metric_member(void* data, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType, OTF2_MetricMode, OTF2_Type, OTF2_Base,
                                   std::int64_t, OTF2_StringRef) {
  if (of(data).text(description) == work_description) of(data).work_members[self] = of(data).text(name);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_metric_class(void* data, OTF2_MetricRef self, std::uint8_t count,
                                  const OTF2_MetricMemberRef* members, OTF2_MetricOccurrence, OTF2_RecorderKind) {
  const auto at = count == 1 ? of(data).work_members.find(members[0]) : of(data).work_members.end();
  if (at != of(data).work_members.end()) of(data).work_metrics[self] = at->second;
  return OTF2_CALLBACK_SUCCESS;
}

void set_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_system_node);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_process);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_communicator);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_intercommunicator);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, on_window);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_metric_member);
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
}

}  // namespace

const std::string& Definitions::text(std::uint32_t string) const {
  static const std::string none;
  const auto at = strings.find(string);
  return at == strings.end() ? none : at->second;
}

std::uint32_t Definitions::node_of(const Process& process) const {
  std::uint32_t at = process.system_node;
  // In a damaged archive, parents may form a cycle.
  for (std::size_t i = 0; i <= system_nodes.size(); ++i) {
    const auto found = system_nodes.find(at);
    if (found == system_nodes.end()) break;
    if (found->second.kind == "node") return at;
    at = found->second.parent;
  }
  return process.system_node;
}

Definitions read_definitions(OTF2_Reader* reader, Messages& messages, const std::string& file) {
  Definitions out;
  OTF2_GlobalDefReader* const definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (definitions == nullptr) fail(OTF2_SUCCESS, messages, file, "read the definitions of");
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, decltype(&OTF2_GlobalDefReaderCallbacks_Delete)> callbacks(
      OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
  set_callbacks(callbacks.get());
  check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &out), messages, file,
        "read the definitions of");
  // A record takes at least a byte; with a damaged count, the library would loop almost forever.
  std::error_code missing;
  const std::filesystem::path definition_file = std::filesystem::path(file).replace_extension(".def");
  const std::uint64_t bytes = std::filesystem::file_size(definition_file, missing);
  std::uint64_t count = 0;
  if (!missing && OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &count) == OTF2_SUCCESS && count > bytes)
    throw std::runtime_error("'" + file + "' is damaged: it announces " + std::to_string(count) +
                             " definitions, but '" + definition_file.string() + "' has only " + std::to_string(bytes) +
                             " bytes; write it again or restore a copy");
  check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count), messages, file, "read the definitions of");
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  return out;
}

}  // namespace effort::tools::otf2
