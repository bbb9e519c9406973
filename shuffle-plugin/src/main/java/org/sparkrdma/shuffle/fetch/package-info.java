/**
 * A request for blocks on its way: what is asked for, how far each block is, and how it is
 * delivered, exactly once.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.fetch.BlockTransport}, which the reader calls. What
 * READs bring is gathered in {@code BlockProgress} and {@code ReadBatch}; {@code Delivery} verifies
 * and hands over, off the transport agent's thread.
 */
package org.sparkrdma.shuffle.fetch;
