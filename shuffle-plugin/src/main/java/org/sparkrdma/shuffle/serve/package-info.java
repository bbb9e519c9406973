// SPDX-License-Identifier: Apache-2.0
/**
 * The serving side: answers LOCATE with memory that peers may READ.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.serve.BlockServer}. The transport's agent owns all
 * state. {@code AnswerWriter} writes answers from windows, which are found in the {@code
 * IndexCache}, and from copies. On {@code DiskThreads} a {@code FileWindow} registers, and a {@code
 * BlockLoad} copies. One {@code Lease} holds all memory of an answer.
 */
package org.sparkrdma.shuffle.serve;
