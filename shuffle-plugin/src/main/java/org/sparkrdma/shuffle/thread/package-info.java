// SPDX-License-Identifier: Apache-2.0
/**
 * What the threads of the plug-in share: the owner of state ({@link
 * org.sparkrdma.shuffle.thread.OwnerThread}), the refusal of a thread by the system ({@link
 * org.sparkrdma.shuffle.thread.ThreadShortageException}) and the wait for the end of a thread
 * ({@link org.sparkrdma.shuffle.thread.ThreadJoin}). The table of all threads is in
 * ARCHITECTURE.md, section Threads: who makes each, what it owns and never does, and what ends it.
 */
package org.sparkrdma.shuffle.thread;
