// SPDX-License-Identifier: Apache-2.0
/**
 * The transport agent: one thread that owns, establishes and checks all connections.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.transport.RdmaTransport}. A {@code PeerConnection} is
 * one connection to another executor: its {@code ConnectionSetup} proves the peer, its {@code
 * FetchSide} requests blocks and READs them, its {@code ServeSide} answers the peer's requests; all
 * post through one {@code SendQueue}.
 */
package org.sparkrdma.shuffle.transport;
