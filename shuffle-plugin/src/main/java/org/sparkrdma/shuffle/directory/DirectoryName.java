// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.security.SecureRandom;
import java.util.HexFormat;
import org.apache.spark.SparkConf;

/**
 * The name of a driver's directory: unique for each start of a driver, and passed to its executors
 * with their configuration.
 *
 * <p>A restarted driver may have the address of its predecessor, and numbers its executors from the
 * beginning again. An executor of the predecessor must neither publish there, because its id now
 * means another executor, nor look up peers. Stateless.
 */
public final class DirectoryName {
  /** Set by the driver in its own configuration, not by users. */
  public static final String KEY = "spark.shuffle.rdmaDirectory";

  private static final String PREFIX = "RdmaShuffleDirectory-";
  private static final int RANDOM_BYTES = 8;

  private DirectoryName() {}

  /** Sets a new name in the driver's configuration, before executors start. */
  public static void choose(SparkConf conf) {
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    conf.set(KEY, PREFIX + HexFormat.of().formatHex(random));
  }

  /** The name in the configuration; without one, a name that no driver has. */
  public static String of(SparkConf conf) {
    return conf.get(KEY, PREFIX);
  }
}
