// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * Facts of this host and this process that only this command reads; a file that cannot be read is
 * empty.
 *
 * @param system the kernel's files
 */
record HostFiles(SystemFiles system) {
  private static final Pattern LIBIBVERBS =
      Pattern.compile(".*/libibverbs\\.so\\.1\\.\\d+\\.(\\d+\\.\\d+)");

  static HostFiles under(Path root) {
    return new HostFiles(new SystemFiles(root));
  }

  /** Bytes that this process may lock; empty without a limit. */
  OptionalLong lockableBytes() {
    Runtime runtime = Runtime.getRuntime();
    return MachineMemory.under(system.root(), runtime.maxMemory(), runtime.availableProcessors())
        .memlockLimit();
  }

  /** The version of rdma-core, such as 44.0, from the libibverbs that this process has loaded. */
  String rdmaCore() {
    for (String line : system.lines("proc/self/maps")) {
      Matcher library = LIBIBVERBS.matcher(line);
      if (library.matches()) {
        return library.group(1);
      }
    }
    return SystemFacts.UNKNOWN;
  }

  /** The name of the driver of a device's PCI function; empty for a device without one. */
  Optional<String> pciDriver(String device) {
    try {
      Path driver =
          system.root().resolve("sys/class/infiniband").resolve(device).resolve("device/driver");
      return Optional.of(Files.readSymbolicLink(driver).getFileName().toString());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  String kernel() {
    return system.text("proc/sys/kernel/osrelease").orElse(SystemFacts.UNKNOWN);
  }
}
