// SPDX-License-Identifier: Apache-2.0
/**
 * Fetched blocks above the connections. {@link org.sparkrdma.shuffle.fetch.FetchRequest} is one
 * call of Spark's fetcher, which a {@link org.sparkrdma.shuffle.fetch.BlockTransport} fetches into
 * {@link org.sparkrdma.shuffle.fetch.ReceiveMemory}. The agent delivers each {@link
 * org.sparkrdma.shuffle.fetch.FetchedBlock}, and the task that opens it verifies it. {@link
 * org.sparkrdma.shuffle.fetch.FallbackThreads} fetches the blocks that RDMA cannot.
 */
package org.sparkrdma.shuffle.fetch;
