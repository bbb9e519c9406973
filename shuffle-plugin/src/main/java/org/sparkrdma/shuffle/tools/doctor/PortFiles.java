// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * The files of one port that several commands read. Immutable; each call reads the files again.
 *
 * @param directory in {@code /sys}, without the first slash
 */
public record PortFiles(SystemFiles files, String directory) {
  private static final String ETHERNET = "Ethernet";
  private static final String INFINIBAND = "InfiniBand";
  private static final String NETWORK_INTERFACES = "/gid_attrs/ndevs";

  /** Begin of the kernel's file node_type for a device of iWARP. */
  private static final String RNIC = "4:";

  /** Device and port, as in {@code mlx5_0 port 1}. */
  public String name() {
    String[] parts = directory.split("/", -1);
    return parts[parts.length - 3] + " port " + parts[parts.length - 1];
  }

  /**
   * The type of a GID. For iWARP, whose GIDs have none, the kernel's file has that of RoCE v1.
   *
   * @param index in the GID table
   */
  public String gidType(String index) {
    return files.text(directory + "/../../node_type").orElse("").startsWith(RNIC)
        ? "iWARP"
        : files.text(directory + "/gid_attrs/types/" + index).orElse(INFINIBAND);
  }

  /** The link layer as the kernel names it; empty where it cannot be read. */
  public String linkLayer() {
    return files.text(directory + "/link_layer").orElse("");
  }

  public boolean isEthernet() {
    return linkLayer().equals(ETHERNET);
  }

  public boolean isInfiniband() {
    return linkLayer().equals(INFINIBAND);
  }

  /** The network interface of a GID; with iWARP none before Linux 6.5. */
  public Optional<String> networkInterface(String index) {
    return files.text(directory + NETWORK_INTERFACES + "/" + index);
  }

  /** Those of all GIDs, each once. */
  public Set<String> networkInterfaces() {
    Set<String> interfaces = new LinkedHashSet<>();
    for (String index : files.names(directory + NETWORK_INTERFACES)) {
      networkInterface(index).ifPresent(interfaces::add);
    }
    return interfaces;
  }
}
