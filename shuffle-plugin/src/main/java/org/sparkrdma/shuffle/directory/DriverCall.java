// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

/** One query of the driver's directory. */
@FunctionalInterface
interface DriverCall {
  /**
   * Sends a query and waits for the answer, up to a time-out.
   *
   * @throws Exception when the driver, or its directory, does not answer; Spark's RPC may throw any
   */
  Object ask(Object message) throws Exception;
}
