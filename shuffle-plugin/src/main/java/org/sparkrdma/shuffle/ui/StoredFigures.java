// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import org.apache.spark.util.kvstore.KVIndex;

/**
 * The figures of an application in the History Server's store, which may be on disk. Spark writes
 * and reads the public fields, and finds the entry by the name of this class.
 */
public final class StoredFigures {
  /** Key of the one entry. */
  public static final String KEY = "rdma-shuffle";

  /** The key. */
  @KVIndex public String id = KEY;

  /** The figures as JSON. */
  public String json;
}
