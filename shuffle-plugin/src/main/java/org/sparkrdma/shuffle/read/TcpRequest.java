// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * A request for blocks by TCP.
 *
 * @param stage whose task reads, as in {@link org.sparkrdma.shuffle.metrics.StageReads}
 * @param blocks called once, when the request is issued; returns the blocks to fetch
 * @param files for blocks that are too large for memory; null for memory
 */
record TcpRequest(
    PeerAddress peer,
    int stage,
    Supplier<String[]> blocks,
    BlockFetchingListener listener,
    DownloadFileManager files) {}
