// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The kernel's RDMA devices and their device nodes, below a root that differs in tests only. */
public final class RdmaNodes {
  private static final String NETWORK_CLASS = "0x02";

  /** Modules of the drivers of cards with RDMA, by the PCI ids of their vendors. */
  private static final Map<String, String> MODULES =
      Map.of(
          "0x15b3", "mlx5_ib (ConnectX-3: mlx4_ib)",
          "0x14e4", "bnxt_re",
          "0x1425", "iw_cxgb4",
          "0x1077", "qedr",
          "0x1ded", "erdma",
          "0x8086", "irdma (E810 and X722 only)");

  private RdmaNodes() {}

  /** Names of the devices in the kernel, sorted. */
  public static List<String> devices(Path root) {
    return SystemGid.children(root.resolve("sys/class/infiniband"));
  }

  /** The device whose node this descriptor of the process is; "" when it is none. */
  public static String deviceOf(Path root, int descriptor) {
    try {
      Path node = Files.readSymbolicLink(root.resolve("proc/self/fd/" + descriptor)).getFileName();
      return SystemGid.read(root.resolve("sys/class/infiniband_verbs/" + node + "/ibdev"));
    } catch (IOException e) {
      return "";
    }
  }

  /** The reason why this process cannot open them, as one sentence; null when there is none. */
  public static String whyUnusable(Path root) {
    Path nodes = root.resolve("dev/infiniband");
    if (devices(root).isEmpty()) {
      return "no RDMA device: the kernel lists none in /sys/class/infiniband, and "
          + remedy(root.resolve("sys/bus/pci/devices"));
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

  private static String remedy(Path pci) {
    for (String card : SystemGid.children(pci)) {
      String module = MODULES.get(SystemGid.read(pci.resolve(card).resolve("vendor")));
      if (module != null
          && SystemGid.read(pci.resolve(card).resolve("class")).startsWith(NETWORK_CLASS)) {
        return "the driver of a network card is not loaded: run modprobe " + module;
      }
    }
    return "the PCI bus has no network card of a vendor with RDMA";
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
