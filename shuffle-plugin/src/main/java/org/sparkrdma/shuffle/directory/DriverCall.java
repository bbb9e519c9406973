// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

/** One question to the driver's directory. */
@FunctionalInterface
interface DriverCall {
  /**
   * Asks and waits for the answer, not for ever.
   *
   * @throws Exception when the driver, or its directory, does not answer; Spark's RPC may throw any
   */
  Object ask(Object message) throws Exception;
}
