// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

/** Source of the blocks of a {@link TcpRequest}, used when it is issued. */
@FunctionalInterface
interface BlocksToFetch {
  /**
   * Takes the blocks; maybe none. When it throws, none is taken, and it may be called again.
   *
   * @return Spark's names
   */
  String[] take();

  /** Answers the blocks of a request that is given up because {@link #take} throws. */
  default void fail(Throwable failure) {}
}
