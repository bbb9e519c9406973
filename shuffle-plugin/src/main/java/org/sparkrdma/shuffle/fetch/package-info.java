// SPDX-License-Identifier: Apache-2.0
/**
 * Requests for blocks: their state, and delivery of each block exactly once.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.fetch.BlockTransport}, which the reader calls. {@code
 * BlockProgress} and {@code ReadBatch} collect the data of READs. {@code Delivery} verifies and
 * delivers it, on its own threads.
 */
package org.sparkrdma.shuffle.fetch;
