/*
 * Checks, clock and output of the loops that measure transfers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int good, const char *what) {
  if (!good) {
    perror(what);
    exit(1);
  }
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The test waits for each line, so it is written at once. */
static void print_line(const char *line) {
  printf("%s\n", line);
  fflush(stdout);
}

static void print_nanoseconds(int64_t took) {
  printf("%lld\n", (long long)took);
  fflush(stdout);
}
