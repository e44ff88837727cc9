#include "adapters/pmpi/calls/call_path.hpp"

#include "adapters/pmpi/calls/port.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>
#include <unwind.h>

namespace effort::pmpi {
namespace {

constexpr std::size_t most_text = 480;  // two paths and " > " fit a region's name

struct Walk {
  const void* first;
  const std::byte* cfa;
  int depth;
  bool found = false;
  Trail trail;
};

// This function deliberately reads the stack beyond its own frame.
__attribute__((no_sanitize("address"))) const void* word_at(const std::byte* place) {
  return *reinterpret_cast<const void* const*>(place);
}

/// Address of the return address of the frame that was just left: on x86-64 right below its canonical frame address.
__attribute__((no_sanitize("address"))) const std::byte* place_of(const void* address, const std::byte* from,
                                                                  const std::byte* cfa) {
  const std::byte* below = cfa - sizeof(void*);
  if (below >= from && word_at(below) == address) return below;
  for (const std::byte* at = from; at < cfa; at += sizeof(void*))
    if (word_at(at) == address) return at;
  return nullptr;
}

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const void* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (!walk.found) {
    walk.found = address == walk.first;
    return _URC_NO_REASON;
  }
  if (walk.trail.n + 1 >= walk.depth || !address) return _URC_END_OF_STACK;
  const auto* frame = reinterpret_cast<const std::byte*>(_Unwind_GetCFA(context));
  const std::byte* from = walk.trail.n > 0 ? walk.cfa + walk.trail.frames[walk.trail.n - 1].offset : walk.cfa;
  const std::byte* place = place_of(address, from, frame);
  if (!place) return _URC_END_OF_STACK;  // the path ends here, because this frame could not be recognised again
  walk.trail.frames[walk.trail.n++] = {place - walk.cfa, address};
  return _URC_NO_REASON;
}

struct Search {
  std::uintptr_t base;
  std::string build_id;
};

/// The build id of the module that is loaded at a base.
int find_build_id(dl_phdr_info* module, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (module->dlpi_addr != search.base) return 0;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const std::byte*>(module->dlpi_addr + segment.p_vaddr);
    const std::byte* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const std::byte* name = at + sizeof note;
      const std::byte* content = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        char digits[3];
        for (std::size_t b = 0; b < note.n_descsz; ++b) {
          std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(content[b]));
          search.build_id += digits;
        }
        return 1;
      }
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 1;
}

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : std::string(program_invocation_name);
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
  return h;
}

/// All paths of the process.
struct Store {
  std::mutex mutex;
  std::map<std::string, Path> paths;
  std::set<std::string> announced;
};

Store& store() {
  static Store* all = new Store;  // never destroyed: calls may come while static objects are
  return *all;
}

void announce(Store& all, const Location& at) {
  if (!all.announced.insert(at.module).second) return;
  port().module(at.module, at.build_id + " " + at.path);
}

std::string text_of(const Location& at) {
  if (at.module.empty()) return "?";
  char digits[32];
  std::snprintf(digits, sizeof digits, "+0x%lx", static_cast<unsigned long>(at.offset));
  return at.module + digits;
}

const Path& keep(Store& all, std::string text) {
  auto [at, fresh] = all.paths.try_emplace(text);
  if (fresh) at->second = {static_cast<std::uint32_t>(all.paths.size()), hash_of(text), std::move(text)};
  return at->second;
}

}  // namespace

const std::byte* stack_end() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto* from = static_cast<const std::byte*>(low);
  return known && here >= from && here < from + size ? from + size : nullptr;
}

Trail unwind(const void* return_address, const std::byte* cfa, int depth) {
  Walk walk{return_address, cfa, depth, false, {}};
  if (depth > 1) _Unwind_Backtrace(step, &walk);
  return walk.trail;
}

Location locate(const void* address) {
  Dl_info found{};
  link_map* map = nullptr;
  Location at;
  if (!dladdr1(address, &found, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map) return at;
  at.path = map->l_name && *map->l_name ? std::string(map->l_name) : program_path();
  at.module = at.path.substr(at.path.rfind('/') + 1);
  at.offset = reinterpret_cast<std::uintptr_t>(address) - map->l_addr;
  Search search{map->l_addr, {}};
  dl_iterate_phdr(find_build_id, &search);
  at.build_id = search.build_id;
  return at;
}

const Path& path_of(Call call, const void* return_address, Trail& trail) {
  std::vector<Location> frames{locate(return_address)};
  for (int i = 0; i < trail.n; ++i) frames.push_back(locate(trail.frames[i].address));
  // The C library's frames below main carry no information.
  const auto start =
      std::find_if(frames.begin() + 1, frames.end(), [](const Location& f) { return f.module.starts_with("libc.so"); });
  trail.n = std::min(trail.n, static_cast<int>(start - frames.begin()));
  frames.erase(start, frames.end());

  std::string text(info(call).name);
  text += " [" + text_of(frames[0]);
  std::size_t kept = 1;
  for (; kept < frames.size(); ++kept) {
    const std::string frame = text_of(frames[kept]);
    if (text.size() + frame.size() + 2 > most_text) break;
    text += " " + frame;
  }
  text += "]";
  Store& all = store();
  const std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < kept; ++i)
    if (!frames[i].module.empty()) announce(all, frames[i]);
  return keep(all, std::move(text));
}

const Path& landmark(const char* name) {
  Store& all = store();
  const std::lock_guard lock(all.mutex);
  return keep(all, name);
}

void forget_modules() {
  Store& all = store();
  const std::lock_guard lock(all.mutex);
  all.announced.clear();
}

}  // namespace effort::pmpi
