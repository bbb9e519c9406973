// SPDX-License-Identifier: Apache-2.0
/**
 * The serving side: answers LOCATE with memory that peers may READ.
 *
 * <p>Entry class {@link org.sparkrdma.shuffle.serve.BlockServer}. The transport's agent owns all
 * state. {@code AnswerWriter} writes answers from the caches: {@code IndexCache}, {@code
 * FileWindows} and {@code CopyPool}. {@code DiskThreads} load what is missing, and their results go
 * into the caches. One {@code Lease} holds all memory of an answer.
 */
package org.sparkrdma.shuffle.serve;
