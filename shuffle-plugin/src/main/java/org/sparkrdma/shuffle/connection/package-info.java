/**
 * One connection to another executor, with both of its halves.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.connection.PeerConnection}: its {@code FetchSide}
 * asks for blocks and READs them, its {@code ServeSide} answers what the peer asks; both post
 * through one {@code SendQueue}. Everything here belongs to the transport agent's thread.
 */
package org.sparkrdma.shuffle.connection;
