#include "runtime/node/offer.hpp"

#include "record/descriptor.hpp"
#include "runtime/quiet_write.hpp"
#include "runtime/status.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL  // C libraries before 2023
#define MFD_NOEXEC_SEAL 8U
#endif

namespace effort::node {
namespace {

Error refused(const std::string& what, int error) {
  return Error(Status::memory,
               what + " failed (" + std::strerror(error) +
                   "): each rank becomes a node of its own; enlarge /dev/shm so that ranks can share memory");
}

struct OpenFile {
  int file;
  ~OpenFile() {
    if (file >= 0) close(file);
  }
};

/// Creates a file without a name.  Kernels before 6.3 do not know the flag for a file that is not executable; later
/// ones log a warning if it is missing.
int open_unnamed() {
  constexpr unsigned how = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int file = memfd_create("effort", how | MFD_NOEXEC_SEAL);
  return file < 0 && errno == EINVAL ? memfd_create("effort", how) : file;
}

constexpr const char* folder = "/dev/shm";

bool leads_to(const char* path, int file) {
  struct stat named {
  }, opened{};
  return lstat(path, &named) == 0 && fstat(file, &opened) == 0 && named.st_dev == opened.st_dev &&
         named.st_ino == opened.st_ino;
}

/// Removes the files that killed processes of this user have left.  The maker of a file holds a lock on it during its
/// lifetime.  Other processes can test the lock even if they cannot see the maker.
void reclaim() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder), closedir);
  if (!listing) return;
  char prefix[32], path[sizeof(Address::path)];
  std::snprintf(prefix, sizeof prefix, "effort-%u-", getuid());
  while (const dirent* entry = readdir(listing.get())) {
    if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) != 0) continue;
    if (std::snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= static_cast<int>(sizeof path)) continue;
    const OpenFile left{open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat st {};
    if (left.file < 0 || fstat(left.file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != getuid()) continue;
    if (flock(left.file, LOCK_EX | LOCK_NB) == 0 && leads_to(path, left.file)) unlink(path);
  }
}

int open_named(Address& address) {
  reclaim();
  std::random_device random;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const unsigned long long r = (static_cast<unsigned long long>(random()) << 32) | random();
    std::snprintf(address.path, sizeof address.path, "%s/effort-%u-%d-%llx", folder, getuid(), getpid(), r);
    const int file = open(address.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return file;
    // Another process may have mistaken the new file for an abandoned one.
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && leads_to(address.path, file)) return file;
    if (leads_to(address.path, file)) unlink(address.path);
    close(file);
  }
  errno = EAGAIN;
  return -1;
}

std::byte* map_file(int file, std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (p == MAP_FAILED) throw refused("mapping shared memory", errno);
  return static_cast<std::byte*>(p);
}

}  // namespace

Offer::Offer(std::size_t bytes, Access access) : bytes_(bytes), access_(access) {
  file_ = record::above_standard_streams(access == Access::descriptor ? open_unnamed() : open_named(address_));
  if (file_ < 0) throw refused("creating shared memory", errno);
  if (access == Access::descriptor)
    std::snprintf(address_.path, sizeof address_.path, "/proc/%d/fd/%d", getpid(), file_);
  WriteSignalsHeld held;
  int error = ftruncate(file_, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  // Reserve the space now: a shortage is then an error here and not a SIGBUS in the host later.
  if (error == 0) error = posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  held.failed(error);
  // From now on, no process can cut it, which would end all others with SIGBUS.  A file with a name cannot be sealed.
  fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  struct stat st {};
  if (error == 0 && fstat(file_, &st) != 0) error = errno;
  if (error != 0) {
    withdraw();
    throw refused("reserving " + std::to_string(bytes) + " bytes of shared memory", error);
  }
  address_.device = st.st_dev;
  address_.inode = st.st_ino;
}

Offer::~Offer() { withdraw(); }

void Offer::withdraw() noexcept {
  if (access_ == Access::name) unlink(address_.path);
  close(file_);
}

std::byte* Offer::map() const { return map_file(file_, bytes_); }

std::byte* Offer::map(const Address& address, std::size_t bytes) {
  const std::string what = std::string("opening shared memory ") + address.path;
  // In another process namespace the path may lead to any file: check it before opening.
  struct stat st {};
  if (stat(address.path, &st) != 0) throw refused(what, errno);
  if (st.st_dev != address.device || st.st_ino != address.inode) throw refused(what, ESTALE);
  if (static_cast<std::size_t>(st.st_size) != bytes)
    throw Error(Status::memory, what +
                                    ": it has an unexpected size: the ranks of this node run different versions of the "
                                    "library; link them all with one");
  const OpenFile opened{open(address.path, O_RDWR | O_CLOEXEC | O_NONBLOCK)};
  if (opened.file < 0) throw refused(what, errno);
  return map_file(opened.file, bytes);
}

}  // namespace effort::node
