// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
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
  private static final Pattern ESCAPED = Pattern.compile("\\\\([0-3][0-7]{2})");

  /** The lines of a file, given without the first slash. */
  public List<String> lines(String file) {
    return lines(root.resolve(file));
  }

  /** The first line of a file, without white space around it; empty also for an empty line. */
  public Optional<String> text(String file) {
    return lines(file).stream().findFirst().map(String::trim).filter(text -> !text.isEmpty());
  }

  /** The rest of the first line that begins with a name, trimmed; empty without such a line. */
  String value(String file, String name) {
    for (String line : lines(file)) {
      if (line.startsWith(name)) {
        return line.substring(name.length()).trim();
      }
    }
    return "";
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
    return decoded(file, StandardCharsets.UTF_8).lines().toList();
  }

  /**
   * The lines of a file that has paths, each byte of the file as a char: names of files may have
   * any bytes. {@link #path} gives the path in such a line.
   */
  List<String> byteLines(String file) {
    return List.of(decoded(root.resolve(file), StandardCharsets.ISO_8859_1).split("\n"));
  }

  /** Bytes that the charset lacks are replaced: one name must not hide the whole file. */
  private static String decoded(Path file, Charset charset) {
    try (InputStream bytes = Files.newInputStream(file)) {
      // With a large buffer: the kernel gives a number of /proc/sys to the first read only.
      return new String(bytes.readNBytes(Integer.MAX_VALUE), charset);
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * The text of a field of {@link #byteLines} in which the kernel writes space, tab, newline and
   * backslash as octal numbers, see seq_path() and proc_pid_mountinfo(5).
   */
  static String unescaped(String field) {
    return ESCAPED
        .matcher(field)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    Character.toString((char) Integer.parseInt(found.group(1), 8))));
  }

  /**
   * The path whose bytes are the chars of this text. A URI has them all, a String only those of the
   * locale of this process.
   */
  static Optional<Path> path(String bytes) {
    StringBuilder uri = new StringBuilder("file://");
    for (int i = 0; i < bytes.length(); i++) {
      char each = bytes.charAt(i);
      uri.append(each == '/' ? "/" : String.format(Locale.ROOT, "%%%02X", (int) each));
    }
    try {
      return Optional.of(Path.of(URI.create(uri.toString())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
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
