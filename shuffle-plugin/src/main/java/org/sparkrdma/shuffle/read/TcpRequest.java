// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Blocks to be fetched by TCP.
 *
 * @param blocks asked once, when the request's turn has come, for what is wanted by then
 * @param files where blocks go that are too large for memory; null for memory
 */
record TcpRequest(
    PeerAddress peer,
    Supplier<String[]> blocks,
    BlockFetchingListener listener,
    DownloadFileManager files) {}
