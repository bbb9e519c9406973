// SPDX-License-Identifier: Apache-2.0
/**
 * A loop of READs through our engine next to the same loop in C ({@code read_loop.c}), in one guest
 * kernel, turn by turn.
 *
 * <p>Entry: {@link org.sparkrdma.guest.reads.ReadPairs}, a program on the packaged plug-in, started
 * by the test beside this package. All on its main thread.
 */
package org.sparkrdma.guest.reads;
