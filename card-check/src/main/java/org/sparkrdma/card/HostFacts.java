// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.Mounts;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Facts of this host that a report names; a file that cannot be read gives {@code unknown}.
 *
 * @param root of the kernel's files
 */
record HostFacts(Path root) {
  static final String UNKNOWN = "unknown";

  private static final Pattern LIBIBVERBS =
      Pattern.compile(".*/libibverbs\\.so\\.1\\.\\d+\\.(\\d+\\.\\d+)");

  /** A soft device on older kernels has the PCI function of its network interface. */
  String driver(DeviceInfo device) {
    return driver(device.name(), String.valueOf(device.reported().get("vendor_id")));
  }

  /** The kernel module of a device, such as {@code mlx5_core} or {@code efa}. */
  String driver(String device, String vendorId) {
    return switch (vendorId) {
      // The vendor ids in the sources of the kernel's soft devices.
      case "0xffffff" -> "rxe";
      case "0x626d74" -> "siw";
      default -> pciDriver(device);
    };
  }

  private String pciDriver(String device) {
    try {
      Path driver = root.resolve("sys/class/infiniband").resolve(device).resolve("device/driver");
      return Files.readSymbolicLink(driver).getFileName().toString();
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  /** The version of rdma-core, such as 44.0, from the libibverbs that this process has loaded. */
  String rdmaCore() {
    try (var lines = Files.lines(root.resolve("proc/self/maps"), ISO_8859_1)) {
      return lines
          .map(LIBIBVERBS::matcher)
          .filter(Matcher::matches)
          .map(library -> library.group(1))
          .findFirst()
          .orElse(UNKNOWN);
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  /** The distribution, such as {@code Debian GNU/Linux 12 (bookworm)}; see os-release(5). */
  String system() {
    try (var lines = Files.lines(root.resolve("etc/os-release"), ISO_8859_1)) {
      return lines
          .filter(line -> line.startsWith("PRETTY_NAME="))
          .map(line -> line.substring("PRETTY_NAME=".length()).replace("\"", ""))
          .findFirst()
          .orElse(UNKNOWN);
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  /** The type of the file system of a folder, such as ext4. */
  String fileSystem(Path folder) {
    return Mounts.of(new SystemFiles(root)).holding(folder).type();
  }

  /** Names of the cards of HPE Slingshot, which have no verbs. */
  List<String> slingshot() {
    String[] names = root.resolve("sys/class/cxi").toFile().list();
    return names == null ? List.of() : Stream.of(names).sorted().toList();
  }

  /** Memory that this process may lock; as much as there is with the right to lock any. */
  long lockableBytes() {
    return MachineMemory.under(root, 0, 1).lockableBytes().orElse(Long.MAX_VALUE);
  }

  /** Version of a jar and its commit, from its manifest. */
  static String build(Path jar) {
    String commit = attribute(jar, "Build-Commit");
    return commit.equals(UNKNOWN)
        ? UNKNOWN
        : attribute(jar, Attributes.Name.IMPLEMENTATION_VERSION.toString()) + ", commit " + commit;
  }

  /** An attribute of a jar's manifest. */
  static String attribute(Path jar, String name) {
    try (JarFile file = new JarFile(jar.toFile())) {
      return String.valueOf(file.getManifest().getMainAttributes().getValue(name));
    } catch (IOException e) {
      return UNKNOWN;
    }
  }
}
