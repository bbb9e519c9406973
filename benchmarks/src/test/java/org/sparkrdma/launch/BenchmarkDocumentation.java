// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The pages with results of benchmarks, {@code docs/benchmarks*.md}. Stateless. */
public final class BenchmarkDocumentation {
  private BenchmarkDocumentation() {}

  /** The text of each page; at least one. */
  public static List<String> pages() throws IOException {
    List<String> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(DocumentationFiles.PROJECT.resolve("docs"))) {
      for (Path file : files.filter(BenchmarkDocumentation::isPage).sorted().toList()) {
        pages.add(Files.readString(file));
      }
    }
    if (pages.isEmpty()) {
      throw new IllegalStateException("no docs/benchmarks*.md");
    }
    return pages;
  }

  /** The recorded reports of a command, {@code NAME-COMMIT.json}; at least one. */
  public static List<Path> results(String name) throws IOException {
    List<Path> found =
        results().stream()
            .filter(file -> file.getFileName().toString().startsWith(name + "-"))
            .toList();
    if (found.isEmpty()) {
      throw new IllegalStateException("no benchmarks/results/" + name + "-*.json");
    }
    return found;
  }

  private static boolean isPage(Path file) {
    return file.getFileName().toString().matches("benchmarks.*\\.md");
  }

  /** The recorded reports, {@code benchmarks/results}. */
  public static List<Path> results() throws IOException {
    try (Stream<Path> files =
        Files.list(DocumentationFiles.PROJECT.resolve("benchmarks/results"))) {
      return files.sorted().toList();
    }
  }
}
