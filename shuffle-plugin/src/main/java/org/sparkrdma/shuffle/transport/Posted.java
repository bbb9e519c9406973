// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/**
 * Something in the send queue of a connection; told on the agent's thread when it has been done.
 */
interface Posted {
  void done();
}
