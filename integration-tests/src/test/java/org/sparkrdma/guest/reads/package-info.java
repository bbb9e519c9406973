// SPDX-License-Identifier: Apache-2.0
/**
 * A loop of READs through the ibverbs engine compared with the same loop in C ({@code
 * read_loop.c}), in one guest kernel.
 *
 * <p>Entry: {@link org.sparkrdma.guest.reads.ReadPairs}, a program on the packaged plug-in, started
 * by the test beside this package. Uses only its main thread.
 */
package org.sparkrdma.guest.reads;
