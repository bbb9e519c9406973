// SPDX-License-Identifier: Apache-2.0
/**
 * The reading side as Spark sees it: {@link org.sparkrdma.shuffle.read.RdmaShuffleReader} around
 * Spark's own fetcher, whose block client is {@link org.sparkrdma.shuffle.read.RdmaBlockClient};
 * {@link org.sparkrdma.shuffle.read.TcpFallback} fetches the blocks that RDMA cannot.
 *
 * <p>Task threads submit requests and never wait here. Results are delivered on the transport's
 * delivery threads and on Spark's own.
 */
package org.sparkrdma.shuffle.read;
