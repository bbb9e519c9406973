// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/**
 * A request in the send queue of a connection. Its completion is reported on the agent's thread.
 */
interface PostedRequest {
  void done();
}
