// SPDX-License-Identifier: Apache-2.0
/**
 * Ownership of state by threads ({@link org.sparkrdma.shuffle.thread.Owner}), the control thread of
 * an executor ({@link org.sparkrdma.shuffle.thread.ControlThread}), the refusal of a thread by the
 * system ({@link org.sparkrdma.shuffle.thread.ThreadShortageException}) and the wait for the end of
 * a thread ({@link org.sparkrdma.shuffle.thread.ThreadEnd}).
 */
package org.sparkrdma.shuffle.thread;
