// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.RdmaNodes;
import org.sparkrdma.verbs.ibverbs.ffi.Architecture;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * Finds out why the engine cannot run on this machine, as one sentence.
 *
 * @param root of the file system; differs in tests only
 */
record Machine(Path root) {
  static final String NO_LIMIT = "unlimited";

  /** The structs' layouts are known for 64-bit little-endian Linux. */
  void checkPlatform() throws EngineUnavailableException {
    String system = System.getProperty("os.name");
    String processor = System.getProperty("os.arch");
    if (!system.equals("Linux") || Architecture.of(processor).isEmpty()) {
      throw new EngineUnavailableException(
          "needs Linux on x86-64 or aarch64, this is " + system + " on " + processor);
    }
  }

  /** Requires devices in the kernel that this process may open. */
  void checkDevices() throws EngineUnavailableException {
    String reason = RdmaNodes.whyUnusable(root);
    if (reason != null) {
      throw new EngineUnavailableException(reason);
    }
  }

  /** The reason why the libraries found no device although {@link #checkDevices} passed. */
  String whyNoDevice(String failure) {
    return "the libraries cannot open the RDMA devices "
        + RdmaNodes.devices(root)
        + ": install their part for this card (apt install ibverbs-providers, or dnf install"
        + " libibverbs): "
        + failure;
  }

  /**
   * Requires a device with reliable connections. A port that is down is no reason: it may become
   * active, and the user of the engine then starts again.
   */
  void checkReliable(List<DeviceInfo> devices) throws EngineUnavailableException {
    if (devices.isEmpty()) {
      throw new EngineUnavailableException(
          "no RDMA device with reliable connections; there are "
              + RdmaNodes.devices(root)
              + " (EFA, for one, has none)");
    }
  }

  /** The limit of locked memory of this process, as text. */
  String memlockLimit() {
    try (Stream<String> lines =
        Files.lines(root.resolve("proc/self/limits"), StandardCharsets.ISO_8859_1)) {
      return lines
          .filter(line -> line.startsWith("Max locked memory"))
          .map(line -> line.substring("Max locked memory".length()).trim().split("\\s+", 2)[0])
          .findFirst()
          .orElse(NO_LIMIT);
    } catch (IOException e) {
      return "unknown";
    }
  }
}
