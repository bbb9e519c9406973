// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The node of the host's memory that is nearest to a device, see numa(7). */
final class NumaNode {
  /** The host has one node, or the node of the device is unknown. */
  static final int NONE = -1;

  private static final String ONLY_NODE = "0";

  private NumaNode() {}

  /**
   * The node, or {@link #NONE}.
   *
   * @param root of the file system; another one in tests
   */
  static int of(Path root, String device) {
    if (read(root.resolve("sys/devices/system/node/online")).equals(ONLY_NODE)) {
      return NONE;
    }
    try {
      Path file = root.resolve("sys/class/infiniband").resolve(device).resolve("device/numa_node");
      return Math.max(NONE, Integer.parseInt(read(file)));
    } catch (NumberFormatException e) {
      return NONE;
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
