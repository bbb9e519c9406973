// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import org.sparkrdma.shuffle.pinned.SystemFiles;

/**
 * The files of one port, whose directory {@link Facts#ports} has.
 *
 * @param directory in {@code /sys}, without the first slash
 */
record PortFiles(SystemFiles files, String directory) {
  /** Begin of the kernel's file node_type for a device of iWARP. */
  private static final String RNIC = "4:";

  /** Device and port, as in {@code mlx5_0 port 1}. */
  String name() {
    String[] parts = directory.split("/", -1);
    return parts[parts.length - 3] + " port " + parts[parts.length - 1];
  }

  /**
   * The type of a GID. For iWARP, whose GIDs have none, the kernel's file has that of RoCE v1.
   *
   * @param index in the GID table
   */
  String gidType(String index) {
    return files.text(directory + "/../../node_type").orElse("").startsWith(RNIC)
        ? "iWARP"
        : files.text(directory + "/gid_attrs/types/" + index).orElse("InfiniBand");
  }
}
