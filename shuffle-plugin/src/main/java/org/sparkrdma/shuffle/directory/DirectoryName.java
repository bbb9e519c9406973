// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.security.SecureRandom;
import java.util.HexFormat;
import org.apache.spark.SparkConf;

/**
 * What the directory of one driver is called: a name of its own for each start of a driver, which
 * its executors get with the rest of their configuration.
 *
 * <p>A driver that is started again may have the address of the one before it, and numbers its
 * executors from the beginning as that one did. An executor that has not noticed yet must neither
 * publish there, under an id that now means another, nor look up whom to read from. Stateless.
 */
public final class DirectoryName {
  /** Set by the driver in its own configuration, not by users. */
  public static final String KEY = "spark.shuffle.rdmaDirectory";

  private static final String PREFIX = "RdmaShuffleDirectory-";
  private static final int RANDOM_BYTES = 8;

  private DirectoryName() {}

  /** Gives the driver whose configuration this is a new name, before it has executors. */
  public static void choose(SparkConf conf) {
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    conf.set(KEY, PREFIX + HexFormat.of().formatHex(random));
  }

  /** Under which name to look for it; where none was told, one that no driver has. */
  static String of(SparkConf conf) {
    return conf.get(KEY, PREFIX);
  }
}
