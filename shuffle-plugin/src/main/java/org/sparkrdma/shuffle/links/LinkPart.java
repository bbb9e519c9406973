// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

import java.util.Locale;

/** A part of the plug-in, by what happens where this Spark lacks a method or field that it uses. */
public enum LinkPart {
  /**
   * The classes that users name: RDMA is off then. Where they name the shuffle manager, Spark loads
   * it before anything can be checked, and the application fails.
   */
  START,
  /** The plug-in's reader: RDMA is off in an executor then. */
  READER,
  /** Fetching; as {@link #READER}. */
  CLIENT,
  /** Serving; as {@link #READER}. */
  SERVING,
  /** The client of another manager's readers: they use Spark's then. */
  BESIDE,
  /** Broadcast variables: Torrent fetches them then. */
  BROADCAST,
  /** Directory and figures: no executor uses RDMA then. */
  DRIVER,
  /** The tab: there is none then. */
  UI;

  /** Whether a line of the list is about this part. */
  boolean begins(String line) {
    return line.startsWith(name().toLowerCase(Locale.ROOT) + "\t");
  }
}
