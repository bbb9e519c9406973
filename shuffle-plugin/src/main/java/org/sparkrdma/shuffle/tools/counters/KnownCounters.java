// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Meaning of single counters, from {@code known-counters.txt} beside this class. A text, because it
 * is smaller in the jar than code.
 *
 * @param files counters in {@code /sys}, by name; in the order of the text
 * @param statistics those of {@code ethtool -S}, by name with {@code #} for each number
 */
record KnownCounters(Map<String, Known> files, Map<String, Known> statistics) {
  private static final String TEXT = "known-counters.txt";
  private static final String COMMENT = "#";
  private static final String SOURCE = "= ";
  private static final String ETHTOOL = "ethtool";
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /**
   * One counter.
   *
   * @param type its class
   * @param meaning a sentence without its full stop
   * @param source file of the kernel or page of the vendor that has the counter
   */
  record Known(CounterClass type, String meaning, String source) {}

  private static final class Holder {
    static final KnownCounters ALL = read();
  }

  /** All of them; read once. */
  static KnownCounters all() {
    return Holder.ALL;
  }

  /** A counter in {@code /sys}. */
  Optional<Known> file(String name) {
    return Optional.ofNullable(files.get(name));
  }

  /** A counter of {@code ethtool -S}. */
  Optional<Known> statistic(String name) {
    return Optional.ofNullable(statistics.get(NUMBER.matcher(name).replaceAll("#")));
  }

  private static KnownCounters read() {
    try (InputStream text = KnownCounters.class.getResourceAsStream(TEXT)) {
      return parse(new String(text.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Parses the text, whose first lines say how it is written. */
  static KnownCounters parse(String text) {
    Map<String, Known> files = new LinkedHashMap<>();
    Map<String, Known> statistics = new LinkedHashMap<>();
    String source = "";
    for (String line : text.lines().toList()) {
      if (line.startsWith(SOURCE)) {
        source = line.substring(SOURCE.length());
      } else if (!line.startsWith(COMMENT)) {
        int name = line.indexOf(' ') + 1;
        int end = line.indexOf(": ", name);
        Known known =
            new Known(
                CounterClass.valueOf(line.substring(0, name - 1)), line.substring(end + 2), source);
        Map<String, Known> counters = source.startsWith(ETHTOOL) ? statistics : files;
        if (counters.put(line.substring(name, end), known) != null) {
          throw new IllegalArgumentException("counter twice: line=" + line);
        }
      }
    }
    return new KnownCounters(
        Collections.unmodifiableMap(files), Collections.unmodifiableMap(statistics));
  }
}
