// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * The text file of {@code doctor --collect}: findings, devices, this plug-in's settings, and the
 * kernel's files about RDMA devices. IP addresses, GIDs, GUIDs, hardware addresses and the name of
 * this host are replaced; equal addresses get equal names, so that a reader can still compare them.
 * Confined to one thread.
 */
final class Archive {
  private static final String DEVICES = "sys/class/infiniband/";
  private static final int MAX_CHARS = 1 << 20;
  private static final Pattern SECRET = Pattern.compile("(?i).*(secret|passw|token|credential).*");
  private static final String IPV4 = "(?:\\d{1,3}\\.){3}\\d{1,3}";

  /**
   * Neither a version (after a dot, a letter or the name of a version, or before a dot), nor a time
   * of day, nor a PCI address.
   */
  private static final Pattern ADDRESS =
      Pattern.compile(
          "(?<![\\w.])(?<!(?:fw_ver|version|firmware|osrelease|Java)[\": =]{1,4})(?:"
              + IPV4
              + "(?!\\w|\\.\\w)"
              + "|(?<!:)(?!\\d\\d:\\d\\d:\\d\\d(?![\\w:]))(?:[0-9A-Fa-f]{0,4}:){2,7}(?:"
              + IPV4
              + "|[0-9A-Fa-f]{0,4})(?!\\w|\\.\\d)|(?<!:)0x[0-9A-Fa-f]{16}(?!\\w))");

  private static final Pattern GUID = Pattern.compile("(\"nodeGuid\":) -?\\d+");

  /** Says nothing about the network: an empty entry of a table, or the host itself. */
  private static final Pattern WELL_KNOWN =
      Pattern.compile("[0:]+|(0x)?0+|0\\.0\\.0\\.0|127\\.\\S*|[0:]*:0*1");

  private static final int MIN_HOST_CHARS = 3;

  private final SystemFiles files;
  private final StringBuilder text = new StringBuilder();
  private final Map<String, String> names = new HashMap<>();

  Archive(SystemFiles files) {
    this.files = files;
  }

  /**
   * Writes a new file.
   *
   * @param doctor answer of the command {@code doctor}, in JSON
   * @param devices answer of the command {@code devices}, in JSON
   */
  static void write(
      Path file, SystemFiles files, SparkSettings spark, String doctor, String devices)
      throws IOException {
    Archive archive = new Archive(files);
    archive.text.append("doctor\n").append(doctor).append("\n\ndevices\n").append(devices);
    archive.text.append("\n\nsettings\n");
    new TreeMap<>(spark.values())
        .forEach(
            (key, value) -> {
              if (key.startsWith(ShuffleSetting.PREFIX) && !SECRET.matcher(key).matches()) {
                archive.text.append(key).append('=').append(value).append('\n');
              }
            });
    archive.text.append("\nfiles of the kernel\n");
    archive.addFile("proc/self/limits");
    for (String device : files.names(DEVICES)) {
      archive.addDevice(DEVICES + device);
    }
    Files.writeString(file, archive.mask(archive.text.toString()), StandardOpenOption.CREATE_NEW);
  }

  private void addDevice(String device) {
    addFolder(device);
    for (String port : files.names(device + "/ports")) {
      String directory = device + "/ports/" + port;
      for (String below :
          List.of(
              "", "/gids", "/gid_attrs/types", "/gid_attrs/ndevs", "/counters", "/hw_counters")) {
        addFolder(directory + below);
      }
    }
  }

  /** Its files, but no folders below. */
  private void addFolder(String directory) {
    for (String name : files.names(directory)) {
      // It has the name of the host, which a container does not know.
      if (!name.equals("node_desc")) {
        addFile(directory + "/" + name);
      }
    }
  }

  private void addFile(String file) {
    for (String line : files.lines(file)) {
      if (text.length() < MAX_CHARS && !line.matches("[0:]*|0x0+")) {
        text.append(file).append(": ").append(line.trim()).append('\n');
      }
    }
  }

  /** The text without addresses. */
  String mask(String unmasked) {
    String masked =
        ADDRESS
            .matcher(GUID.matcher(unmasked).replaceAll("$1 0"))
            .replaceAll(found -> name(found.group()));
    String host = files.text("proc/sys/kernel/hostname").orElse("");
    String first = host.split("\\.", 2)[0];
    for (String name : List.of(host, first)) {
      // Names such as "a" are words of the texts, too.
      if (name.length() >= MIN_HOST_CHARS && !host.startsWith("localhost")) {
        masked = masked.replaceAll("(?<!\\w)" + Pattern.quote(name) + "(?!\\w)", "this-host");
      }
    }
    return masked;
  }

  private String name(String address) {
    return WELL_KNOWN.matcher(address).matches()
        ? address
        : names.computeIfAbsent(
            address.toLowerCase(Locale.ROOT), key -> "address-" + (names.size() + 1));
  }
}
