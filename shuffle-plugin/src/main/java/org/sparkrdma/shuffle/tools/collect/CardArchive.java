// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * The zip file of {@code doctor --collect}: findings, devices, this plug-in's settings, and the
 * kernel's files about RDMA devices. Addresses are masked in all of it. Stateless.
 */
public final class CardArchive {
  private static final String DEVICES = "sys/class/infiniband/";
  private static final int MAX_LINES = 2_000;
  private static final int MAX_VALUE_CHARS = 300;
  private static final Pattern SECRET = Pattern.compile("(?i).*(secret|passw|token|credential).*");

  /** An empty entry of a table of GIDs or partition keys. */
  private static final Pattern EMPTY = Pattern.compile("[0:]*|0x0+");

  private static final Pattern RDMA_MODULE =
      Pattern.compile("(ib|rdma|mlx|rxe|siw|irdma|bnxt|cxgb|qed|efa|hns|iw_|nvidia_peer).*");

  /** Directories of which all files are read, but no directories below. */
  private static final List<String> OF_DEVICE = List.of("", "/hw_counters");

  private static final List<String> OF_PORT =
      List.of(
          "",
          "/gids",
          "/gid_attrs/types",
          "/gid_attrs/ndevs",
          "/pkeys",
          "/counters",
          "/hw_counters");

  private static final List<String> OF_PCI =
      List.of(
          "vendor",
          "device",
          "subsystem_vendor",
          "subsystem_device",
          "revision",
          "numa_node",
          "current_link_speed",
          "current_link_width",
          "max_link_speed",
          "max_link_width");

  private static final List<String> OF_SYSTEM =
      List.of(
          "proc/sys/kernel/osrelease",
          "proc/sys/kernel/version",
          "etc/os-release",
          "proc/self/limits",
          "sys/module/ib_core/parameters/netns_mode",
          "sys/module/ib_core/version",
          "sys/module/mlx5_core/version",
          "sys/class/infiniband_verbs/abi_version");

  private CardArchive() {}

  /**
   * Writes a new file; none remains after a failure.
   *
   * @param doctor answer of the command {@code doctor}, in JSON
   * @param devices answer of the command {@code devices}, in JSON
   */
  public static void write(
      Path file, SystemFiles files, SparkSettings spark, String doctor, String devices)
      throws IOException {
    AddressMask mask = new AddressMask(files);
    OutputStream stream =
        Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (ZipOutputStream zip = new ZipOutputStream(stream, StandardCharsets.UTF_8)) {
      for (Map.Entry<String, String> entry : texts(files, spark, doctor, devices).entrySet()) {
        zip.putNextEntry(new ZipEntry(entry.getKey()));
        zip.write(mask.mask(entry.getValue()).getBytes(StandardCharsets.UTF_8));
        zip.closeEntry();
      }
    } catch (IOException e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  private static Map<String, String> texts(
      SystemFiles files, SparkSettings spark, String doctor, String devices) {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("doctor.json", doctor);
    texts.put("devices.json", devices);
    StringBuilder settings = new StringBuilder();
    new TreeMap<>(spark.values())
        .forEach(
            (key, value) -> {
              if (key.startsWith(ShuffleSetting.PREFIX) && !SECRET.matcher(key).matches()) {
                settings.append(key).append('=').append(value).append('\n');
              }
            });
    texts.put("settings.txt", settings.toString());
    texts.put("system.txt", joined(system(files)));
    for (String device : files.names(DEVICES)) {
      texts.put("sysfs/" + device + ".txt", joined(device(files, DEVICES + device)));
    }
    return texts;
  }

  private static List<String> system(SystemFiles files) {
    String version = CardArchive.class.getPackage().getImplementationVersion();
    List<String> lines = new ArrayList<>();
    lines.add("plug-in: " + (version == null ? "not packaged" : version));
    lines.add("java: " + Runtime.version() + " " + System.getProperty("java.vendor"));
    lines.add("processor: " + System.getProperty("os.arch"));
    OF_SYSTEM.forEach(file -> add(lines, files, file));
    files.lines("proc/modules").stream()
        .filter(line -> RDMA_MODULE.matcher(line).lookingAt())
        .map(line -> "module: " + line.split(" ", 2)[0])
        .forEach(lines::add);
    return lines;
  }

  private static List<String> device(SystemFiles files, String directory) {
    List<String> lines = new ArrayList<>();
    OF_DEVICE.forEach(below -> addAll(lines, files, directory + below));
    OF_PCI.forEach(file -> add(lines, files, directory + "/device/" + file));
    for (String port : files.names(directory + "/ports")) {
      OF_PORT.forEach(below -> addAll(lines, files, directory + "/ports/" + port + below));
    }
    return lines;
  }

  private static void addAll(List<String> lines, SystemFiles files, String directory) {
    files.names(directory).forEach(name -> add(lines, files, directory + "/" + name));
  }

  private static void add(List<String> lines, SystemFiles files, String file) {
    for (String line : files.lines(file)) {
      String value = line.trim();
      if (file.contains("counters/") || !EMPTY.matcher(value).matches()) {
        lines.add(file + ": " + value.substring(0, Math.min(MAX_VALUE_CHARS, value.length())));
      }
    }
  }

  private static String joined(List<String> lines) {
    String text = String.join("\n", lines.subList(0, Math.min(MAX_LINES, lines.size()))) + "\n";
    return lines.size() > MAX_LINES
        ? text + "left out: " + (lines.size() - MAX_LINES) + " lines\n"
        : text;
  }
}
