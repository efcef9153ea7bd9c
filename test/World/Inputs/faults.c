/* Loaded before the C library (LD_PRELOAD), makes one call of the process fail:
 *
 *   FAULT=write:2:28       the second write fails with error 28, ENOSPC
 *   FAULT=rename:1:kill    the process is killed when it renames first
 *   FAULT=read:1:shorten   what is read has lost its second half before
 *   FAULT=read:1:append    ... has grown by a line before
 *
 * Only files whose path holds FAULT_PATH count. FAULT_DONE is a file that is made
 * when the fault has happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void alter(int file, int append) {
  char path[4096], link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0)
    return;
  path[length] = 0;
  struct stat status;
  if (append) {
    FILE *stream = fopen(path, "a");
    fputs("// more\n", stream);
    fclose(stream);
  } else if (stat(path, &status) || truncate(path, status.st_size / 2)) {
    abort();
  }
}

static int isOurs(const char *path) {
  const char *part = getenv("FAULT_PATH");
  return !part || (path && strstr(path, part));
}

static int isOurFile(int file) {
  char path[4096], link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return isOurs(path);
}

/* 1: this call is to fail, errno says how. */
static int fails(const char *call, int file) {
  static int count;
  const char *fault = getenv("FAULT");
  size_t length = strlen(call);
  if (!fault || strncmp(fault, call, length) || fault[length] != ':')
    return 0;
  char *rest;
  if (strtol(fault + length + 1, &rest, 10) != ++count || *rest != ':')
    return 0;
  const char *done = getenv("FAULT_DONE");
  if (done)
    fclose(fopen(done, "w"));
  if (!strcmp(rest, ":kill"))
    kill(getpid(), SIGKILL);
  if (!strcmp(rest, ":terminate"))
    kill(getpid(), SIGTERM);
  if (!strcmp(rest, ":shorten") || !strcmp(rest, ":append"))
    alter(file, rest[1] == 'a');
  errno = atoi(rest + 1);
  return errno != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t size) {
  if (file > 2 && isOurFile(file) && fails("write", file))
    return -1;
  return REAL(write)(file, bytes, size);
}

ssize_t read(int file, void *bytes, size_t size) {
  if (isOurFile(file) && fails("read", file))
    return -1;
  return REAL(read)(file, bytes, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int file,
           off_t offset) {
  if (file >= 0 && isOurFile(file))
    (void)fails("read", file);
  return REAL(mmap)(at, size, protection, flags, file, offset);
}

static int openWith(int (*real)(const char *, int, ...), const char *path,
                    int flags, mode_t mode) {
  if (isOurs(path) && fails(flags & O_CREAT ? "create" : "open", -1))
    return -1;
  return real(path, flags, mode);
}

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    mode_t mode = 0;                                                           \
    if (flags & O_CREAT) {                                                     \
      va_list arguments;                                                       \
      va_start(arguments, flags);                                              \
      mode = va_arg(arguments, mode_t);                                        \
      va_end(arguments);                                                       \
    }                                                                          \
    return openWith(REAL(name), path, flags, mode);                            \
  }
OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
  if (isOurs(to) && fails("rename", -1))
    return -1;
  return REAL(rename)(from, to);
}
