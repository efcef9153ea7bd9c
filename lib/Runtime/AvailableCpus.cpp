//===- AvailableCpus.cpp - how many CPUs this process may use -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two limits count: the affinity mask (taskset, cpusets) and the CPU time a
// cgroup may take. A container with a quota of two CPUs on a machine of 64 is
// throttled when 64 threads start, so the quota bounds the threads:
//
//   affinity 0-63, cpu.max "200000 100000"  ─▶ 2
//
// The quota is looked for in this process's group and in each one above it.
//
//===----------------------------------------------------------------------===//

#include "AvailableCpus.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>

/// The first line of `path` without its end, or an empty one.
static void readLine(const char *path, char *line, size_t bytes) {
  line[0] = '\0';
  if (std::FILE *file = std::fopen(path, "re")) {
    if (!std::fgets(line, static_cast<int>(bytes), file))
      line[0] = '\0';
    std::fclose(file);
  }
  line[std::strcspn(line, "\n")] = '\0';
}

int32_t facet::cpusOfQuota(const char *text) {
  char *end = nullptr;
  errno = 0;
  long long quota = std::strtoll(text, &end, 10);
  if (end == text || *end != ' ' || errno || quota <= 0)
    return 0;
  const char *second = end + 1;
  long long period = std::strtoll(second, &end, 10);
  if (end == second || *end != '\0' || errno || period <= 0)
    return 0;
  long long cpus = quota / period + (quota % period != 0);
  return static_cast<int32_t>(std::min<long long>(cpus, INT_MAX));
}

/// The least quota on the way from this process's cgroup to the root; 0: none.
static int32_t cgroupCpus() {
  char line[PATH_MAX];
  readLine("/proc/self/cgroup", line, sizeof line); // cgroup v2: "0::/a/b"
  if (std::strncmp(line, "0::/", 4) != 0)
    return 0;
  int32_t least = 0;
  for (char *group = line + 3;;) {
    char path[PATH_MAX + 32], quota[64];
    std::snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    readLine(path, quota, sizeof quota);
    if (int32_t cpus = facet::cpusOfQuota(quota))
      least = least ? std::min(least, cpus) : cpus;
    char *slash = std::strrchr(group, '/');
    if (!slash || group[0] == '\0')
      return least;
    *slash = '\0';
  }
}

int32_t facet::availableCpus() {
  // The kernel may know more CPUs than cpu_set_t holds: ask for room until it fits.
  int32_t cpus = 1;
  for (int room = CPU_SETSIZE; room <= (1 << 20); room *= 2) {
    cpu_set_t *set = CPU_ALLOC(room);
    if (!set)
      break;
    size_t bytes = CPU_ALLOC_SIZE(room);
    bool known = sched_getaffinity(0, bytes, set) == 0;
    bool retry = !known && errno == EINVAL;
    if (known)
      cpus = std::max(1, CPU_COUNT_S(bytes, set));
    CPU_FREE(set);
    if (!retry)
      break;
  }
  int32_t quota = cgroupCpus();
  return quota ? std::min(cpus, quota) : cpus;
}
