/*
 * A file over TCP, to compare RDMA READ with: the server answers each request by sendfile(2), as Netty does.
 *
 *   send_loop serve ADDRESS   serves one client after the other, until one asks for no bytes
 *   send_loop read ADDRESS    connects, says "ready", then answers each line "LENGTH COUNT" of its input with the
 *                             nanoseconds it took; asks for no bytes at the end of its input
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"

enum { PORT = 7472, FILE_BYTES = 16 << 20 };

static int open_socket(void) {
  int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  check(fd >= 0, "socket");
  check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0, "SO_REUSEADDR");
  check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
  return fd;
}

static struct sockaddr_in address_of(const char *text) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  check(inet_pton(AF_INET, text, &address.sin_addr) == 1, "inet_pton");
  return address;
}

/* Whether all bytes came before the end of the connection. */
static int receive(int fd, void *to, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t got = read(fd, (char *)to + done, length - done);
    check(got >= 0, "read");
    if (got == 0) {
      return 0;
    }
    done += got;
  }
  return 1;
}

static void serve(const char *at) {
  struct sockaddr_in address = address_of(at);
  int listener = open_socket(), file = memfd_create("served", 0);
  check(file >= 0, "memfd_create");
  char *content = malloc(FILE_BYTES);
  check(content != NULL, "malloc");
  memset(content, 1, FILE_BYTES);
  check(write(file, content, FILE_BYTES) == FILE_BYTES, "write");
  check(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
  check(listen(listener, 1) == 0, "listen");
  for (;;) {
    int client = accept(listener, NULL, NULL), on = 1;
    uint32_t length;
    check(client >= 0, "accept");
    check(setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
    while (receive(client, &length, sizeof length)) {
      if (length == 0) {
        exit(0);
      }
      off_t offset = 0;
      while (offset < length) {
        check(sendfile(client, file, &offset, length - offset) > 0, "sendfile");
      }
    }
    close(client);
  }
}

static int64_t fetch(int fd, char *to, uint32_t length, int count) {
  int64_t started = now();
  for (int i = 0; i < count; i++) {
    check(write(fd, &length, sizeof length) == sizeof length, "write");
    check(receive(fd, to, length), "the server ended the connection");
  }
  return now() - started;
}

int main(int count, char **words) {
  check(count == 3, "arguments");
  if (strcmp(words[1], "serve") == 0) {
    serve(words[2]);
  }
  struct sockaddr_in address = address_of(words[2]);
  int fd = open_socket(), times;
  check(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
  print_line("ready");
  char *memory = malloc(FILE_BYTES);
  check(memory != NULL, "malloc");
  unsigned length;
  while (scanf("%u %d", &length, &times) == 2) {
    check(length > 0 && length <= FILE_BYTES, "length");
    print_nanoseconds(fetch(fd, memory, length, times));
  }
  uint32_t none = 0;
  check(write(fd, &none, sizeof none) == sizeof none, "write");
  return 0;
}
