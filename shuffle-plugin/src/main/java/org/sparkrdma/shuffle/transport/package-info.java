/**
 * Connections to other executors and the fetching of blocks over them.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.transport.BlockTransport}.
 */
package org.sparkrdma.shuffle.transport;
