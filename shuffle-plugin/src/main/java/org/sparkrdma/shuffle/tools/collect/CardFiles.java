// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.collect;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.tools.counters.PortFiles;

/**
 * Files of the kernel about RDMA devices, as one text for each device, and about this system. Reads
 * only the directories that are named here. Stateless.
 */
public final class CardFiles {
  private static final String DEVICES = "sys/class/infiniband";
  private static final int MAX_DEVICES = 32;
  private static final int MAX_LINES = 2_000;
  private static final int MAX_VALUE_CHARS = 300;

  /** Directories of a device. All files in them are read, but no directories below. */
  private static final List<String> OF_DEVICE = List.of("", "hw_counters");

  /** The PCI device or its parent. */
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

  private static final List<String> OF_PORT =
      List.of("", "gids", "gid_attrs/types", "gid_attrs/ndevs", "pkeys");
  private static final List<String> COUNTERS = List.of("counters", "hw_counters");
  private static final List<String> OF_INTERFACE = List.of("mtu", "operstate", "speed", "type");
  private static final List<String> OF_SYSTEM =
      List.of(
          "proc/sys/kernel/ostype",
          "proc/sys/kernel/osrelease",
          "proc/sys/kernel/version",
          "etc/os-release",
          "proc/self/limits",
          "sys/module/ib_core/parameters/netns_mode",
          "sys/module/ib_core/version",
          "sys/module/mlx5_core/version",
          "sys/class/infiniband_verbs/abi_version");

  /** An empty entry of a table of GIDs or partition keys. */
  private static final Pattern EMPTY = Pattern.compile("[0:]*|0x0+");

  private static final Pattern RDMA_MODULE =
      Pattern.compile("(ib|rdma|mlx|rxe|siw|irdma|bnxt|cxgb|qed|efa|hns|iw_|nvidia_peer).*");

  private final SystemFiles files;

  /** Reads the files of one machine. */
  public CardFiles(SystemFiles files) {
    this.files = files;
  }

  /** Everything but counters of ports: names of entries with their texts. */
  public Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("system.txt", joined(system()));
    for (String device : devices()) {
      texts.put("sysfs/" + device + ".txt", joined(device(device)));
    }
    return texts;
  }

  /** All counters of all ports now. */
  public String counters() {
    List<String> lines = new ArrayList<>();
    for (String device : devices()) {
      for (String port : ports(device)) {
        COUNTERS.forEach(directory -> addAll(lines, port + "/" + directory));
      }
    }
    return joined(lines);
  }

  private List<String> devices() {
    List<String> names = files.names(DEVICES);
    return names.subList(0, Math.min(MAX_DEVICES, names.size()));
  }

  private List<String> ports(String device) {
    String directory = DEVICES + "/" + device + "/ports";
    return files.names(directory).stream().map(port -> directory + "/" + port).toList();
  }

  private List<String> system() {
    List<String> lines = new ArrayList<>();
    OF_SYSTEM.forEach(file -> add(lines, file));
    files.lines("proc/modules").stream()
        .filter(line -> RDMA_MODULE.matcher(line).lookingAt())
        .map(line -> "module: " + line.split(" ", 2)[0])
        .forEach(lines::add);
    return lines;
  }

  private List<String> device(String device) {
    List<String> lines = new ArrayList<>();
    String directory = DEVICES + "/" + device;
    OF_DEVICE.forEach(below -> addAll(lines, at(directory, below)));
    OF_PCI.forEach(file -> add(lines, directory + "/device/" + file));
    Set<String> interfaces = new LinkedHashSet<>();
    for (String port : ports(device)) {
      OF_PORT.forEach(below -> addAll(lines, at(port, below)));
      interfaces.addAll(new PortFiles(files, port).networkInterfaces());
    }
    for (String network : interfaces) {
      OF_INTERFACE.forEach(file -> add(lines, "sys/class/net/" + network + "/" + file));
    }
    return lines;
  }

  private static String at(String directory, String below) {
    return below.isEmpty() ? directory : directory + "/" + below;
  }

  private void addAll(List<String> lines, String directory) {
    files.names(directory).forEach(name -> add(lines, directory + "/" + name));
  }

  private void add(List<String> lines, String file) {
    for (String line : files.lines(file)) {
      String value = line.trim();
      if (file.contains("counters/") || !EMPTY.matcher(value).matches()) {
        lines.add(file + ": " + value.substring(0, Math.min(MAX_VALUE_CHARS, value.length())));
      }
    }
  }

  private static String joined(List<String> lines) {
    List<String> first = lines.subList(0, Math.min(MAX_LINES, lines.size()));
    String text = String.join("\n", first) + "\n";
    return lines.size() > MAX_LINES
        ? text + "left out: " + (lines.size() - MAX_LINES) + " lines\n"
        : text;
  }
}
