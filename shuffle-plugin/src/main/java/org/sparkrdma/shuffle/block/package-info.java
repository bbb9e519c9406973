/**
 * A block that RDMA brought: {@link org.sparkrdma.shuffle.block.FetchedBlock} over registered
 * memory, as Spark sees it, and its checksums.
 */
package org.sparkrdma.shuffle.block;
