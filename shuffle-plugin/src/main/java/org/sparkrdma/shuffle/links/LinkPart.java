// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.util.Locale;

/** A part of the plug-in, by what happens where this Spark lacks a member that it uses. */
public enum LinkPart {
  /**
   * The classes that users name; without a member RDMA is off. Where they name the shuffle manager,
   * Spark loads it before anything can be checked, and the application fails.
   */
  START,
  /** The plug-in's reader; without a member RDMA is off in an executor. */
  READER,
  /** Fetching; as {@link #READER}. */
  CLIENT,
  /** Serving; as {@link #READER}. */
  SERVING,
  /** The client of another manager's readers; without a member they use Spark's. */
  BESIDE,
  /** Broadcast variables; without a member Torrent fetches them. */
  BROADCAST,
  /** Directory and figures; without a member no executor uses RDMA. */
  DRIVER,
  /** The tab; without a member there is none. */
  UI;

  /** Whether a line of the list is about this part. */
  boolean begins(String line) {
    return line.startsWith(name().toLowerCase(Locale.ROOT) + "\t");
  }
}
