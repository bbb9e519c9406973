/**
 * The reading side as Spark sees it: {@link org.sparkrdma.shuffle.read.RdmaShuffleReader} around
 * Spark's own fetcher, whose block client is {@link org.sparkrdma.shuffle.read.RdmaBlockClient};
 * what RDMA does not bring is fetched through {@link org.sparkrdma.shuffle.read.TcpFallback}.
 *
 * <p>Requests come from task threads, which never wait here; results go out on the transport's
 * delivery threads and on Spark's own.
 */
package org.sparkrdma.shuffle.read;
