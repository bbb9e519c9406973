// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import org.sparkrdma.verbs.device.DeviceInfo;

/**
 * Versions that a report names.
 *
 * @param driver of the device, or {@code unknown}
 * @param kernel its release
 * @param rdmaCore version of rdma-core
 * @param java version and vendor
 * @param plugin version of the plug-in's jar, and its commit
 */
record SystemFacts(String driver, String kernel, String rdmaCore, String java, String plugin) {
  static final String UNKNOWN = "unknown";

  /** Soft RoCE and soft iWARP, by the vendor ids of the kernel's sources. */
  static final String RXE = "rxe";

  static final String SIW = "siw";
  private static final String RXE_VENDOR = "0xffffff";
  private static final String SIW_VENDOR = "0x626d74";

  static SystemFacts of(HostFiles files, DeviceInfo device, Path pluginJar) {
    return new SystemFacts(
        driver(files, device),
        files.kernel(),
        files.rdmaCore(),
        Runtime.version().toString() + ", " + System.getProperty("java.vendor"),
        build(pluginJar));
  }

  /** A soft device on older kernels has the PCI function of its network interface. */
  private static String driver(HostFiles files, DeviceInfo device) {
    return switch (String.valueOf(device.reported().get("vendor_id"))) {
      case RXE_VENDOR -> RXE;
      case SIW_VENDOR -> SIW;
      default -> files.pciDriver(device.name()).orElse(UNKNOWN);
    };
  }

  /** Whether the device is a card; the kernel's soft devices are none. */
  boolean isCard() {
    return !driver.equals(RXE) && !driver.equals(SIW);
  }

  private static String build(Path jar) {
    if (!Files.isRegularFile(jar)) {
      return UNKNOWN;
    }
    try (JarFile file = new JarFile(jar.toFile())) {
      if (file.getManifest() == null) {
        return UNKNOWN;
      }
      Attributes attributes = file.getManifest().getMainAttributes();
      return attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION)
          + ", commit "
          + attributes.getValue("Build-Commit");
    } catch (IOException e) {
      return UNKNOWN;
    }
  }
}
