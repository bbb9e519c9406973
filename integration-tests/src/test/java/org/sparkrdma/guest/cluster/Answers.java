// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.nio.file.Path;

/** Paths in the directory of {@link VanillaSpark}. */
final class Answers {
  private Answers() {}

  /** Directory with the input of the sort. */
  static Path input(Path directory) {
    return directory.resolve("input");
  }

  /** File with the result of {@link Tera}. */
  static Path tera(Path directory) {
    return directory.resolve("answer-tera");
  }

  /** File with the result of {@link Blocks}. */
  static Path blocks(Path directory) {
    return directory.resolve("answer-blocks");
  }
}
