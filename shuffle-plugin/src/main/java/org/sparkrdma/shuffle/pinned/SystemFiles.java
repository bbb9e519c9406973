// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The system's files; unreadable ones are empty.
 *
 * @param root of the file system; another one in tests
 */
public record SystemFiles(Path root) {
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /** The lines of a file, given without the first slash. */
  public List<String> lines(String file) {
    return lines(root.resolve(file));
  }

  /** The first line of a file, without white space around it; empty also for an empty line. */
  public Optional<String> text(String file) {
    return lines(file).stream().findFirst().map(String::trim).filter(text -> !text.isEmpty());
  }

  /** Names in a directory, sorted; empty when there is no such directory. */
  public List<String> names(String directory) {
    try (Stream<Path> entries = Files.list(root.resolve(directory))) {
      return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The first number of a line; empty also for one beyond 63 bits. */
  public static OptionalLong number(String line) {
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
