// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.links;

/** Where Spark calls the plug-in, and Spark's own way is still open. */
@FunctionalInterface
public interface LinkEdge {
  /**
   * Takes an error; when this returns, the caller goes on with Spark's own.
   *
   * @throws LinkageError the same one, when it is not about a method or field that the plug-in uses
   * @throws IllegalStateException when RDMA is required
   */
  void take(LinkageError error);
}
