// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The files in /dev/infiniband by which programs reach devices, and their permissions. */
final class DeviceNodesCheck implements Check {
  private static final String FOLDER = "dev/infiniband";
  private static final String CONNECTIONS = "rdma_cm";

  @Override
  public String name() {
    return "device files";
  }

  @Override
  public List<Finding> run(Facts facts) {
    List<String> nodes = new ArrayList<>(facts.files().names(FOLDER));
    nodes.removeIf(node -> !node.startsWith("uverbs") && !node.equals(CONNECTIONS));
    if (nodes.stream().noneMatch(node -> node.startsWith("uverbs"))) {
      return List.of(
          facts.devices().isEmpty()
              ? facts.against(
                  "/dev/infiniband has no uverbs file: the kernel has no RDMA device.",
                  "see the finding on kernel modules")
              : facts.against(
                  "The kernel has RDMA devices "
                      + facts.devices()
                      + ", but this process sees no /dev/infiniband/uverbs file.",
                  "start the container with --device=/dev/infiniband, on Kubernetes with a device"
                      + " plug-in; on a host load the module ib_uverbs"));
    }
    List<Finding> findings = new ArrayList<>();
    if (!nodes.contains(CONNECTIONS)) {
      findings.add(
          facts.against(
              "/dev/infiniband/rdma_cm is missing, so no connections can be made.",
              "modprobe rdma_ucm, or start the container with --device=/dev/infiniband/rdma_cm"));
    }
    for (String node : nodes) {
      Path file = facts.files().root().resolve(FOLDER).resolve(node);
      boolean open = Files.isReadable(file) && Files.isWritable(file);
      String user = facts.user();
      findings.add(
          open
              ? Finding.ok("user=" + user + " may use /dev/infiniband/" + node + ".")
              : facts.against(
                  "user=" + user + " may not read and write /dev/infiniband/" + node + ".",
                  "add the user to the group of that file, or remove the udev rule that restricts it:"
                      + " the kernel creates it with rw for all users"));
    }
    return findings;
  }
}
