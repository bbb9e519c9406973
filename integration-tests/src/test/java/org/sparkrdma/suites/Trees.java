// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directory trees. */
final class Trees {
  private Trees() {}

  /** Deletes a tree, its links but not what they point at; what does not exist is no error. */
  static void delete(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> tree = Files.walk(root)) {
      deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : deepestFirst) {
      Files.deleteIfExists(path);
    }
  }
}
