// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.engine.SystemGid;
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
    String reason = reason();
    if (reason != null) {
      throw new EngineUnavailableException(reason);
    }
  }

  /** The reason found in system files; null when there is none. */
  private String reason() {
    Path nodes = root.resolve("dev/infiniband");
    if (devices().isEmpty()) {
      return "no RDMA device: the kernel lists none in /sys/class/infiniband, so there is no card,"
          + " or its driver is not loaded";
    }
    List<String> verbs =
        SystemGid.children(nodes).stream().filter(node -> node.startsWith("uverbs")).toList();
    if (verbs.isEmpty()) {
      return "the kernel has RDMA devices, but /dev/infiniband is not there: start the container"
          + " with --device=/dev/infiniband, or load the module ib_uverbs";
    }
    if (verbs.stream().noneMatch(node -> mayUse(nodes.resolve(node)))) {
      return "no permission: user="
          + System.getProperty("user.name")
          + " may not read and write /dev/infiniband/uverbs*";
    }
    Path manager = nodes.resolve("rdma_cm");
    if (!Files.exists(manager)) {
      return "/dev/infiniband/rdma_cm is not there: load the module rdma_ucm, or start the"
          + " container with --device=/dev/infiniband/rdma_cm";
    }
    if (!mayUse(manager)) {
      return "no permission: user="
          + System.getProperty("user.name")
          + " may not read and write /dev/infiniband/rdma_cm";
    }
    return null;
  }

  /** Names of the devices in the kernel. */
  private List<String> devices() {
    return SystemGid.children(root.resolve("sys/class/infiniband"));
  }

  private static boolean mayUse(Path node) {
    return Files.isReadable(node) && Files.isWritable(node);
  }

  /** The reason why the libraries found no device although {@link #checkDevices} passed. */
  String whyNoDevice(String failure) {
    return "the libraries cannot open the RDMA devices "
        + devices()
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
              + devices()
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
