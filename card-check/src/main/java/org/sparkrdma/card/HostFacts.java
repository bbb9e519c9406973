// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    return switch (String.valueOf(device.reported().get("vendor_id"))) {
      // The vendor ids in the sources of the kernel's soft devices.
      case "0xffffff" -> "rxe";
      case "0x626d74" -> "siw";
      default -> pciDriver(device.name());
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
    try (var lines = Files.lines(root.resolve("proc/self/maps"))) {
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

  /** Version of a jar and its commit, from its manifest. */
  static String build(Path jar) {
    try (JarFile file = new JarFile(jar.toFile())) {
      Attributes attributes = file.getManifest().getMainAttributes();
      return attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION)
          + ", commit "
          + attributes.getValue("Build-Commit");
    } catch (IOException e) {
      return UNKNOWN;
    }
  }
}
