// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The kernel's RDMA devices and their device nodes, below a root that differs in tests only. */
public final class RdmaNodes {
  private RdmaNodes() {}

  /** Names of the devices in the kernel, sorted. */
  public static List<String> devices(Path root) {
    return SystemGid.children(root.resolve("sys/class/infiniband"));
  }

  /** The reason why this process cannot open them, as one sentence; null when there is none. */
  public static String whyUnusable(Path root) {
    Path nodes = root.resolve("dev/infiniband");
    if (devices(root).isEmpty()) {
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
      return noPermission("uverbs*");
    }
    Path manager = nodes.resolve("rdma_cm");
    if (!Files.exists(manager)) {
      return "/dev/infiniband/rdma_cm is not there: load the module rdma_ucm, or start the"
          + " container with --device=/dev/infiniband/rdma_cm";
    }
    return mayUse(manager) ? null : noPermission("rdma_cm");
  }

  private static boolean mayUse(Path node) {
    return Files.isReadable(node) && Files.isWritable(node);
  }

  private static String noPermission(String node) {
    return "no permission: user="
        + System.getProperty("user.name")
        + (" may not read and write /dev/infiniband/" + node);
  }
}
