// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Compares the output of two applications. Stateless. */
final class AnswerComparison {
  private AnswerComparison() {}

  /** The first row that differs, in one sentence; empty when all rows are equal. */
  static Optional<String> rows(Path expected, Path actual) throws IOException {
    try (BufferedReader wanted = Files.newBufferedReader(expected);
        BufferedReader found = Files.newBufferedReader(actual)) {
      String wantedRow = wanted.readLine();
      if (wantedRow == null) {
        return Optional.of("the query has no rows");
      }
      for (int number = 1; ; number++) {
        String foundRow = found.readLine();
        if (wantedRow == null && foundRow == null) {
          return Optional.empty();
        }
        if (wantedRow == null || !wantedRow.equals(foundRow)) {
          return Optional.of(
              "row %d of the query differs: vanilla=%s soft=%s"
                  .formatted(number, wantedRow, foundRow));
        }
        wantedRow = wanted.readLine();
      }
    }
  }

  /** The first file of sorted records that differs; empty when all bytes are equal. */
  static Optional<String> sortedRecords(Path expected, Path actual) throws IOException {
    Set<String> names = partNames(expected);
    if (names.isEmpty() || !names.equals(partNames(actual))) {
      return Optional.of(
          "the sort wrote other files: vanilla=%s soft=%s".formatted(names, partNames(actual)));
    }
    for (String name : names) {
      long at = Files.mismatch(expected.resolve(name), actual.resolve(name));
      if (at >= 0) {
        return Optional.of("sorted records differ: file=%s offset=%d".formatted(name, at));
      }
    }
    return Optional.empty();
  }

  private static Set<String> partNames(Path directory) throws IOException {
    Set<String> names = new TreeSet<>();
    try (DirectoryStream<Path> parts = Files.newDirectoryStream(directory, "part-*")) {
      parts.forEach(part -> names.add(part.getFileName().toString()));
    }
    return names;
  }
}
