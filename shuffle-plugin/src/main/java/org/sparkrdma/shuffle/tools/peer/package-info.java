// SPDX-License-Identifier: Apache-2.0
/**
 * The check of one peer by {@code doctor --peer}, and the other side, {@code doctor --listen}: a
 * line by TCP that names the listener's RDMA addresses, then a connection by RDMA and READs. One
 * thread on each side.
 */
package org.sparkrdma.shuffle.tools.peer;
