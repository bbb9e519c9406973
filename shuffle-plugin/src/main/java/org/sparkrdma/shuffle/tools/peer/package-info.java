// SPDX-License-Identifier: Apache-2.0
/**
 * The check of one peer by {@code doctor --peer}, the measurements of {@code perf client}, and the
 * other sides, {@code doctor --listen} and {@code perf server}: a line by TCP that names the
 * listener's RDMA addresses, then a connection by RDMA and READs. One thread on each side.
 */
package org.sparkrdma.shuffle.tools.peer;
