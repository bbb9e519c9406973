// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Files of the kernel about this host and this process; a file that cannot be read is empty. */
final class HostFiles {
  /** Bit of CAP_IPC_LOCK, see capabilities(7). */
  private static final int IPC_LOCK = 14;

  private static final int HEXADECIMAL = 16;
  private static final Pattern LOCKED = Pattern.compile("Max locked memory +(\\S+).*");
  private static final Pattern CAPABILITIES = Pattern.compile("CapEff:\\s+([0-9a-f]+)");
  private static final Pattern LIBIBVERBS =
      Pattern.compile(".*/libibverbs\\.so\\.1\\.\\d+\\.(\\d+\\.\\d+)");

  private final Path root;

  HostFiles(Path root) {
    this.root = root;
  }

  /** Bytes that this process may lock; empty without a limit. */
  OptionalLong lockableBytes() {
    boolean capable =
        matches("proc/self/status", CAPABILITIES)
            .map(mask -> (Long.parseUnsignedLong(mask, HEXADECIMAL) >> IPC_LOCK & 1) == 1)
            .orElse(false);
    return capable
        ? OptionalLong.empty()
        : matches("proc/self/limits", LOCKED)
            .filter(limit -> limit.matches("\\d+"))
            .map(limit -> OptionalLong.of(Long.parseLong(limit)))
            .orElse(OptionalLong.empty());
  }

  /** The version of rdma-core, such as 44.0, from the libibverbs that this process has loaded. */
  String rdmaCore() {
    for (String line : lines("proc/self/maps")) {
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
      Path driver = root.resolve("sys/class/infiniband").resolve(device).resolve("device/driver");
      return Optional.of(Files.readSymbolicLink(driver).getFileName().toString());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  String hostName() {
    return lines("proc/sys/kernel/hostname").stream().findFirst().orElse("");
  }

  String kernel() {
    return lines("proc/sys/kernel/osrelease").stream().findFirst().orElse(SystemFacts.UNKNOWN);
  }

  private Optional<String> matches(String file, Pattern pattern) {
    return lines(file).stream()
        .map(pattern::matcher)
        .filter(Matcher::matches)
        .map(line -> line.group(1))
        .findFirst();
  }

  private List<String> lines(String file) {
    try {
      return Files.readAllLines(root.resolve(file));
    } catch (IOException e) {
      return List.of();
    }
  }
}
