// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Pages of the project, and files that they name. */
final class DocumentationFiles {
  /** The folder of the project. */
  static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();

  static final List<String> MODULES =
      List.of("rdma-core-java", "shuffle-plugin", "card-check", "benchmarks", "integration-tests");

  private DocumentationFiles() {}

  /** README.md, CONTRIBUTING.md, ARCHITECTURE.md, the page of the guest, and docs/. */
  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String name :
        List.of(
            "README.md",
            "CONTRIBUTING.md",
            "ARCHITECTURE.md",
            "integration-tests/guest/README.md")) {
      pages.add(PROJECT.resolve(name));
    }
    try (Stream<Path> docs = Files.walk(PROJECT.resolve("docs"))) {
      docs.filter(page -> page.toString().endsWith(".md")).sorted().forEach(pages::add);
    }
    return pages;
  }

  /** All tests or resources of tests with this name. */
  static List<Path> withName(String name) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(PROJECT.resolve(module).resolve("src/test"))) {
        files.filter(file -> file.endsWith(name)).forEach(found::add);
      }
    }
    return found;
  }
}
