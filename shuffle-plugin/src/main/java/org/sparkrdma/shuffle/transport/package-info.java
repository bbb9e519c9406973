// SPDX-License-Identifier: Apache-2.0
/**
 * Transport over one-way connections: the reader opens a connection, proves itself and sends
 * LOCATEs; the server answers them; RDMA READs move the data. Entry class {@link
 * org.sparkrdma.shuffle.transport.RdmaTransport}. The thread {@code rdma-agent} owns all state but
 * the send queue of a connection, which has a lock so that tasks may post.
 */
package org.sparkrdma.shuffle.transport;
