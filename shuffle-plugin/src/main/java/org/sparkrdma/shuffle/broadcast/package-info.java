// SPDX-License-Identifier: Apache-2.0
/**
 * Broadcast variables along a pipeline of READs: the pieces of Spark's TorrentBroadcast reach the
 * executors in chunks before tasks ask for them, from the least busy executor that has them.
 *
 * <p>Torrent stays the truth: executors put verified pieces into Spark's block manager, where
 * Torrent finds them, and what is missing Torrent fetches. Start at {@link
 * org.sparkrdma.shuffle.broadcast.Broadcasts}.
 */
package org.sparkrdma.shuffle.broadcast;
