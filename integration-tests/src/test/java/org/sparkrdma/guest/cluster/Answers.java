// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.nio.file.Path;

/** Where {@link VanillaSpark} leaves what, in its directory. */
final class Answers {
  private Answers() {}

  /** A directory: what is to be sorted. */
  static Path input(Path directory) {
    return directory.resolve("input");
  }

  /** A file: what {@link Tera} answers. */
  static Path tera(Path directory) {
    return directory.resolve("answer-tera");
  }

  /** A file: what {@link Blocks} answer. */
  static Path blocks(Path directory) {
    return directory.resolve("answer-blocks");
  }
}
