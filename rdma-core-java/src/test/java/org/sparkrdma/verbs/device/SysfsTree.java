// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * Files about a device in {@code /sys}, kept as a text of lines {@code path=value} in the test
 * resources {@code sysfs/NAME.txt}; each text says where it is from.
 *
 * @param statistics what {@code ethtool -S} prints, by interface and name
 */
public record SysfsTree(Map<String, Map<String, Long>> statistics) {
  private static final String ETHTOOL = "ethtool/";

  /** Writes the files of a resource below a directory. */
  public static SysfsTree unpack(String name, Path root) throws IOException {
    return write(text(name), root);
  }

  /** The text of a resource. */
  static String text(String name) throws IOException {
    try (InputStream resource = SysfsTree.class.getResourceAsStream("/sysfs/" + name + ".txt")) {
      if (resource == null) {
        throw new FileNotFoundException(name);
      }
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Writes the files of such a text below a directory. */
  public static SysfsTree write(String text, Path root) throws IOException {
    Map<String, Map<String, Long>> statistics = new TreeMap<>();
    for (String line : text.lines().filter(one -> !one.startsWith("#")).toList()) {
      String[] parts = line.split("=", 2);
      if (line.startsWith(ETHTOOL)) {
        String[] statistic = parts[0].substring(ETHTOOL.length()).split("/", 2);
        statistics
            .computeIfAbsent(statistic[0], key -> new TreeMap<>())
            .put(statistic[1], Long.parseLong(parts[1]));
      } else {
        Path file = root.resolve(parts[0]);
        Files.createDirectories(file.getParent());
        Files.writeString(file, parts[1] + "\n");
      }
    }
    return new SysfsTree(statistics);
  }
}
