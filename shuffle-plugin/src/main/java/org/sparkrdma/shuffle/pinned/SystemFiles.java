// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The system's files; unreadable ones are empty.
 *
 * @param root of the file system; another one in tests
 */
record SystemFiles(Path root) {
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  List<String> lines(String file) {
    return lines(root.resolve(file));
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The first number of a line; empty also for one beyond 63 bits. */
  static OptionalLong number(String line) {
    Matcher matcher = NUMBER.matcher(line);
    try {
      return matcher.find()
          ? OptionalLong.of(Long.parseLong(matcher.group()))
          : OptionalLong.empty();
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
