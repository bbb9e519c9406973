/**
 * The transport agent: one thread that owns all connections, makes them, and watches over them.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.transport.RdmaTransport}.
 */
package org.sparkrdma.shuffle.transport;
