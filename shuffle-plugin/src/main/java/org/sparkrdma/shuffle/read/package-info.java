// SPDX-License-Identifier: Apache-2.0
/**
 * The reading side as Spark sees it: {@link org.sparkrdma.shuffle.read.RdmaShuffleReader} around
 * Spark's own fetcher, whose block client is {@link org.sparkrdma.shuffle.read.RdmaBlockClient}.
 * Called by task threads.
 */
package org.sparkrdma.shuffle.read;
