// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A file of Spark's settings, as {@link Properties#load} and so Spark read it, with remarks about
 * lines that have another effect than a reader may expect.
 *
 * @param values every key with its value, also keys that Spark ignores; without blanks at both ends
 * @param remarks no values in them, because a value may be a secret
 */
public record SettingsFile(Map<String, String> values, List<Remark> remarks) {
  /** Begins every key that Spark does not ignore. */
  static final String PREFIX = "spark.";

  private static final int MAX_BYTES = 16 << 20;

  /** Number of lines that a remark names. */
  private static final int MAX_LISTED = 5;

  private static final String BYTE_ORDER_MARK = "\ufeff";
  private static final char REPLACEMENT = '\ufffd';
  private static final Pattern COMMENT = Pattern.compile("(^|\\s)#");

  /**
   * A remark about the file.
   *
   * @param text a sentence
   * @param advice what to do
   */
  public record Remark(String text, String advice) {}

  /** Keeps copies. */
  public SettingsFile {
    values = Map.copyOf(values);
    remarks = List.copyOf(remarks);
  }

  /**
   * The keys that Spark ignores because of their beginning, without one after a byte order mark.
   */
  public List<String> foreignKeys() {
    return values.keySet().stream()
        .filter(key -> !key.startsWith(PREFIX) && !key.startsWith(BYTE_ORDER_MARK))
        .sorted()
        .toList();
  }

  /**
   * Reads the file; bytes that are not UTF-8 are replaced, as Spark does. Takes no named pipe or
   * device, because a read there may never end.
   *
   * @throws IOException when it is none of the allowed files, cannot be read, or has an escape that
   *     Java refuses
   */
  public static SettingsFile read(Path file) throws IOException {
    if (!isAllowed(file)) {
      throw new IOException("it is neither a regular file nor /dev/stdin or /dev/fd/NUMBER");
    }
    byte[] bytes = bytes(file);
    String text = new String(bytes, StandardCharsets.UTF_8);
    List<String> lines = text.lines().toList();
    List<Remark> remarks = new ArrayList<>();
    if (text.startsWith(BYTE_ORDER_MARK)) {
      remarks.add(
          new Remark(
              "Line 1 begins with a byte order mark (U+FEFF). Spark takes it as part of the first"
                  + " key, so that the key has no effect.",
              "save the file as UTF-8 without a byte order mark"));
    }
    if (!isUtf8(bytes)) {
      remarks.add(wrongBytes(lines));
    }
    Map<String, String> values = new TreeMap<>();
    Map<String, List<Integer>> places = new TreeMap<>();
    List<Remark> comments = new ArrayList<>();
    int next = 0;
    while (next < lines.size()) {
      int first = next;
      do {
        next++;
      } while (next < lines.size() && isContinued(lines.get(next - 1), next - 1 == first));
      Properties one = load(lines.subList(first, next), first + 1);
      for (String key : one.stringPropertyNames()) {
        String value = one.getProperty(key).trim();
        if (key.isEmpty()) {
          continue;
        }
        values.put(key, value);
        places.computeIfAbsent(key, any -> new ArrayList<>()).add(first + 1);
        if (COMMENT.matcher(value).find()) {
          comments.add(comment(key, first + 1));
        }
      }
    }
    places.forEach((key, at) -> addRepetition(remarks, key, at));
    remarks.addAll(comments);
    if (values.isEmpty()) {
      remarks.add(
          new Remark(
              "The file of --conf sets nothing: it has only comments or is empty.",
              "give the file that Spark uses"));
    }
    return new SettingsFile(values, remarks);
  }

  private static byte[] bytes(Path file) throws IOException {
    try (InputStream input = Files.newInputStream(file)) {
      byte[] bytes = input.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException(
            "it has more than " + (MAX_BYTES >> 20) + " MiB, so it is no file of settings");
      }
      return bytes;
    }
  }

  /** False for a named pipe, a socket or a device, but the files that this process was given. */
  private static boolean isAllowed(Path file) {
    Path path = file.toAbsolutePath().normalize();
    return path.equals(Path.of("/dev/stdin"))
        || path.startsWith("/dev/fd")
        || path.startsWith("/proc/self/fd")
        || Files.isRegularFile(path)
        || Files.isDirectory(path)
        || Files.notExists(path);
  }

  /** Reads the natural lines of one property, or of none. */
  private static Properties load(List<String> lines, int number) throws IOException {
    Properties one = new Properties();
    try {
      one.load(new StringReader(String.join("\n", lines)));
      return one;
    } catch (IllegalArgumentException e) {
      throw new IOException("line " + number + ": " + e.getMessage(), e);
    }
  }

  /**
   * Whether the next line belongs to the same property: this one ends in an odd number of
   * backslashes and is no comment.
   */
  private static boolean isContinued(String line, boolean first) {
    String text = line.stripLeading();
    if (first && (text.startsWith("#") || text.startsWith("!"))) {
      return false;
    }
    int backslashes = 0;
    while (backslashes < line.length() && line.charAt(line.length() - 1 - backslashes) == '\\') {
      backslashes++;
    }
    return backslashes % 2 == 1;
  }

  private static boolean isUtf8(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  private static Remark wrongBytes(List<String> lines) {
    List<Integer> at = new ArrayList<>();
    for (int index = 0; index < lines.size(); index++) {
      if (lines.get(index).indexOf(REPLACEMENT) >= 0) {
        at.add(index + 1);
      }
    }
    return new Remark(
        (at.size() == 1 ? "Line " + at.get(0) + " has" : "Lines " + listed(at) + " have")
            + " bytes that are not UTF-8; Spark replaces them by "
            + REPLACEMENT
            + ".",
        "save the file as UTF-8");
  }

  private static Remark comment(String key, int line) {
    return new Remark(
        key + " in line " + line + ": a # after a value is part of the value.",
        "if it begins a comment, give the comment a line of its own");
  }

  private static void addRepetition(List<Remark> remarks, String key, List<Integer> at) {
    if (at.size() > 1) {
      String times = at.size() == 2 ? "twice" : at.size() + " times";
      remarks.add(
          new Remark(
              String.format(
                  Locale.ROOT,
                  "%s is set %s, in lines %s; the last one counts.",
                  key,
                  times,
                  listed(at)),
              "remove all but one of these lines"));
    }
  }

  private static String listed(List<Integer> numbers) {
    if (numbers.size() > MAX_LISTED) {
      return numbers.subList(0, MAX_LISTED).stream()
              .map(String::valueOf)
              .collect(Collectors.joining(", "))
          + ", ... ("
          + numbers.size()
          + " in all)";
    }
    String all =
        numbers.subList(0, numbers.size() - 1).stream()
            .map(String::valueOf)
            .collect(Collectors.joining(", "));
    return all + " and " + numbers.get(numbers.size() - 1);
  }
}
